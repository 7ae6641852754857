/* Dear ImGui behind ui.h: no more than its calls, and where each widget was drawn. */
#include "view/ui.h"

extern "C" {
#include "base/status.h"
#include "view/gl.h"
}

#include <backends/imgui_impl_opengl3.h>
#include <fontconfig/fontconfig.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

namespace
{

struct Place {
    double rect[4];
    int frame;
};

} // namespace

struct und_ui {
    ImGuiContext *context;
    std::map<std::string, Place> places; /* of widgets, by label */
    double menu_height, strip_height;
    bool taken[UND_BUTTONS]; /* went down on a panel: all until it is up is the panel's */
    /* Down, and has gone down since the last picture: a click may be quicker than one. */
    bool down[UND_BUTTONS], pressed[UND_BUTTONS];
    bool key_down[UND_KEY_COUNT], key_pressed[UND_KEY_COUNT];
    bool resized; /* since the last picture */
    int panels;   /* open now: drawing goes into them */
    double scale;
};

namespace
{

const ImGuiWindowFlags BARE = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs |
                              ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings |
                              ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoBringToFrontOnFocus |
                              ImGuiWindowFlags_NoMove;

void note(und_ui *ui, const char *label, ImVec2 low, ImVec2 high)
{
    ImVec2 middle((low.x + high.x) / 2, (low.y + high.y) / 2);
    if (ImGui::GetCurrentWindow()->ClipRect.Contains(middle)) /* not scrolled out of sight */
        ui->places[label] = {{low.x, low.y, high.x, high.y}, ImGui::GetFrameCount()};
}
/* The widget drawn last, with its label. */
void note_item(und_ui *ui, const char *label)
{
    note(ui, label, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}
/* The next widget without its label: where a slider slides. */
void note_frame(und_ui *ui, const char *label)
{
    ImVec2 low = ImGui::GetCursorScreenPos();
    note(ui, label, low, ImVec2(low.x + ImGui::CalcItemWidth(), low.y + ImGui::GetFrameHeight()));
}

ImU32 color_of(unsigned rgba)
{
    return IM_COL32(rgba >> 24, rgba >> 16 & 255, rgba >> 8 & 255, rgba & 255);
}
ImVec2 at(double x, double y)
{
    return ImVec2((float)x, (float)y);
}
ImDrawList *canvas_of(const und_ui *ui)
{
    return ui->panels > 0 ? ImGui::GetWindowDrawList() : ImGui::GetBackgroundDrawList();
}

void dress()
{
    ImGuiStyle &style = ImGui::GetStyle();
    ImGui::StyleColorsDark();
    style.WindowRounding = 6;
    style.FrameRounding = style.GrabRounding = style.PopupRounding = 4;
    style.WindowBorderSize = 0;
    style.WindowPadding = ImVec2(10, 8);
    style.ItemSpacing = ImVec2(8, 5);
    style.FramePadding = ImVec2(6, 3);
    style.Colors[ImGuiCol_WindowBg] = ImVec4(0.055f, 0.075f, 0.10f, 0.84f);
    style.Colors[ImGuiCol_PopupBg] = ImVec4(0.055f, 0.075f, 0.10f, 0.96f);
    style.Colors[ImGuiCol_MenuBarBg] = ImVec4(0.055f, 0.075f, 0.10f, 0.90f);
    style.Colors[ImGuiCol_TitleBg] = style.Colors[ImGuiCol_TitleBgCollapsed] =
        ImVec4(0.07f, 0.13f, 0.18f, 0.90f);
    style.Colors[ImGuiCol_TitleBgActive] = ImVec4(0.08f, 0.20f, 0.28f, 0.95f);
    style.Colors[ImGuiCol_FrameBg] = ImVec4(0.24f, 0.32f, 0.40f, 0.85f);
    const ImVec4 accent(0.20f, 0.58f, 0.76f, 1);
    style.Colors[ImGuiCol_SliderGrab] = style.Colors[ImGuiCol_CheckMark] = accent;
    style.Colors[ImGuiCol_SliderGrabActive] = ImVec4(0.45f, 0.80f, 0.95f, 1);
    for (int c : {ImGuiCol_Button, ImGuiCol_Header, ImGuiCol_FrameBgHovered})
        style.Colors[c] = ImVec4(0.16f, 0.38f, 0.50f, 0.75f);
    for (int c : {ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_ButtonActive,
                  ImGuiCol_HeaderActive, ImGuiCol_FrameBgActive})
        style.Colors[c] = ImVec4(0.20f, 0.52f, 0.68f, 0.90f);
}

/* A font of the system; ImGui's own small one where there is none. */
void choose_font(double scale)
{
    static const ImWchar glyphs[] = {0x20, 0xff, 0x2010, 0x2027, 0x2190, 0x2193, 0x2212, 0x2212, 0};
    FcPattern *wanted = FcNameParse(reinterpret_cast<const FcChar8 *>("DejaVu Sans:style=Book"));
    FcConfigSubstitute(nullptr, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcResult result;
    FcPattern *found = FcFontMatch(nullptr, wanted, &result);
    FcChar8 *path = nullptr;
    ImFont *font = nullptr;
    if (found && FcPatternGetString(found, FC_FILE, 0, &path) == FcResultMatch)
        font = ImGui::GetIO().Fonts->AddFontFromFileTTF(reinterpret_cast<char *>(path), (float)(15 * scale),
                                                        nullptr, glyphs);
    if (!font)
        ImGui::GetIO().Fonts->AddFontDefault();
    if (found)
        FcPatternDestroy(found);
    FcPatternDestroy(wanted);
}

void map_keys(ImGuiIO &io)
{
    static const int keys[][2] = {{ImGuiKey_Tab, UND_KEY_TAB},
                                  {ImGuiKey_LeftArrow, UND_KEY_LEFT},
                                  {ImGuiKey_RightArrow, UND_KEY_RIGHT},
                                  {ImGuiKey_UpArrow, UND_KEY_UP},
                                  {ImGuiKey_DownArrow, UND_KEY_DOWN},
                                  {ImGuiKey_PageUp, UND_KEY_PAGE_UP},
                                  {ImGuiKey_PageDown, UND_KEY_PAGE_DOWN},
                                  {ImGuiKey_Home, UND_KEY_HOME},
                                  {ImGuiKey_End, UND_KEY_END},
                                  {ImGuiKey_Insert, UND_KEY_INSERT},
                                  {ImGuiKey_Delete, UND_KEY_DELETE},
                                  {ImGuiKey_Backspace, UND_KEY_BACKSPACE},
                                  {ImGuiKey_Space, ' '},
                                  {ImGuiKey_Enter, UND_KEY_ENTER},
                                  {ImGuiKey_Escape, UND_KEY_ESCAPE},
                                  {ImGuiKey_A, 'A'},
                                  {ImGuiKey_C, 'C'},
                                  {ImGuiKey_V, 'V'},
                                  {ImGuiKey_X, 'X'},
                                  {ImGuiKey_Y, 'Y'},
                                  {ImGuiKey_Z, 'Z'}};
    for (const auto &key : keys)
        io.KeyMap[key[0]] = key[1];
}

} // namespace

und_ui *und_ui_create(double scale, und_error *err)
{
    und_ui *ui = new (std::nothrow) und_ui{};
    if (!ui) {
        und_error_set(err, UND_FAILED, "no memory for menus");
        return nullptr;
    }
    ui->scale = scale;
    ui->context = ImGui::CreateContext();
    ImGui::SetCurrentContext(ui->context);
    ImGuiIO &io = ImGui::GetIO();
    io.IniFilename = io.LogFilename = nullptr; /* nothing is kept on disk */
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    dress();
    ImGui::GetStyle().ScaleAllSizes((float)scale);
    choose_font(scale);
    map_keys(io);
    if (!ImGui_ImplOpenGL3_Init(epoxy_is_desktop_gl() ? "#version 330 core" : "#version 300 es")) {
        ImGui::DestroyContext(ui->context);
        delete ui;
        und_error_set(err, UND_FAILED, "OpenGL does not draw the menus");
        return nullptr;
    }
    return ui;
}

void und_ui_destroy(und_ui *ui)
{
    if (!ui)
        return;
    ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext(ui->context);
    delete ui;
}

static bool over_panel(und_ui *ui, double x, double y)
{
    (void)ui;
    ImGuiContext &g = *ImGui::GetCurrentContext();
    if (g.OpenPopupStack.Size > 0)
        return true;
    for (ImGuiWindow *window : g.Windows)
        if (window->WasActive && !(window->Flags & ImGuiWindowFlags_NoInputs) && !window->Hidden &&
            window->Rect().Contains(at(x, y)))
            return true;
    return false;
}

bool und_ui_mouse(const und_ui *ui, double *x, double *y)
{
    ImVec2 at = ImGui::GetIO().MousePos;
    *x = at.x;
    *y = at.y;
    return ImGui::IsMousePosValid(&at) && !und_ui_hovered(ui);
}

bool und_ui_hovered(const und_ui *ui)
{
    ImVec2 mouse = ImGui::GetIO().MousePos;
    return over_panel(const_cast<und_ui *>(ui), mouse.x, mouse.y);
}

bool und_ui_event(und_ui *ui, const und_event *e)
{
    ImGuiIO &io = ImGui::GetIO();
    io.KeyShift = e->kind == UND_EVENT_KEY ? (e->mods & UND_MOD_SHIFT) != 0 : io.KeyShift;
    io.KeyCtrl = e->kind == UND_EVENT_KEY ? (e->mods & UND_MOD_CONTROL) != 0 : io.KeyCtrl;
    switch (e->kind) {
    case UND_EVENT_MOVE:
        io.MousePos = at(e->x, e->y);
        return ui->taken[0] || ui->taken[1] || ui->taken[2];
    case UND_EVENT_BUTTON: {
        io.MousePos = at(e->x, e->y);
        bool taken = e->down ? over_panel(ui, e->x, e->y) : ui->taken[e->button];
        ui->taken[e->button] = ui->down[e->button] = e->down && taken;
        ui->pressed[e->button] |= e->down && taken;
        return taken;
    }
    case UND_EVENT_SCROLL:
        if (!over_panel(ui, io.MousePos.x, io.MousePos.y))
            return false;
        io.MouseWheel += (float)e->y;
        return true;
    case UND_EVENT_KEY:
        if (e->key > 0 && e->key < UND_KEY_COUNT) {
            bool ours = e->down && (io.WantTextInput || e->key == UND_KEY_ESCAPE);
            ui->key_down[e->key] = ours;
            ui->key_pressed[e->key] |= ours;
        }
        return io.WantTextInput;
    case UND_EVENT_TEXT:
        if (io.WantTextInput)
            io.AddInputCharacter(e->text);
        return io.WantTextInput;
    default:
        return false;
    }
}

void und_ui_begin(und_ui *ui, int width, int height, double seconds)
{
    ImGuiIO &io = ImGui::GetIO();
    ui->resized = io.DisplaySize.x != (float)width || io.DisplaySize.y != (float)height;
    io.DisplaySize = at(width, height);
    io.DeltaTime = (float)fmax(seconds, 1e-4);
    ui->panels = 0;
    for (int i = 0; i < UND_BUTTONS; i++)
        io.MouseDown[i] = ui->down[i] || ui->pressed[i];
    for (int i = 0; i < UND_KEY_COUNT; i++)
        io.KeysDown[i] = ui->key_down[i] || ui->key_pressed[i];
    memset(ui->pressed, 0, sizeof ui->pressed);
    memset(ui->key_pressed, 0, sizeof ui->key_pressed);
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
}

void und_ui_end(und_ui *ui)
{
    (void)ui;
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

bool und_ui_where(const und_ui *ui, const char *label, double rect[4])
{
    auto found = ui->places.find(label);
    if (found == ui->places.end() || found->second.frame < ImGui::GetFrameCount() - 1)
        return false;
    memcpy(rect, found->second.rect, sizeof found->second.rect);
    return true;
}

bool und_ui_panel(und_ui *ui, const char *title, double x, double y, double width)
{
    ImVec2 size = ImGui::GetIO().DisplaySize;
    ImVec2 pivot(x < 0, y < 0);
    ImGuiCond when = ui->resized ? ImGuiCond_Always : ImGuiCond_FirstUseEver; /* borders are elsewhere then */
    ImGui::SetNextWindowPos(at(x < 0 ? size.x + x : x, y < 0 ? size.y + y : y), when, pivot);
    ImGuiWindowFlags flags = ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing;
    double most = fmax(size.y - ui->strip_height - (y < 0 ? ui->menu_height : y) - 10, 60);
    ImGui::SetNextWindowSizeConstraints(at(fmax(width, 0), 0), at(width > 0 ? width : size.x, most));
    ui->panels++;
    bool open = ImGui::Begin(title, nullptr, flags | ImGuiWindowFlags_AlwaysAutoResize);
    ImGuiWindow *window = ImGui::GetCurrentWindow();
    ui->places[title] = {{window->Pos.x, window->Pos.y, window->Pos.x + window->SizeFull.x,
                          window->Pos.y + window->TitleBarHeight()},
                         ImGui::GetFrameCount()};
    if (window->Pos.x + window->Size.x > size.x && window->Size.x < size.x) /* it grew over the border */
        ImGui::SetWindowPos(at(size.x - window->Size.x - 10, window->Pos.y));
    ImGui::PushItemWidth(10 * ImGui::GetFontSize());
    return open;
}

bool und_ui_corner(und_ui *ui, const char *name, double x, double y)
{
    ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos(at(x < 0 ? size.x + x : x, y < 0 ? size.y + y : y), ImGuiCond_Always,
                            ImVec2(x < 0, y < 0));
    ui->panels++;
    ImGui::SetNextWindowSizeConstraints(at(290 * ui->scale, 0), at(size.x, size.y)); /* numbers come and go */
    ImGui::SetNextWindowBgAlpha(0.6f); /* legible over bright water */
    bool open = ImGui::Begin(name, nullptr, BARE);
    ImGui::PushItemWidth(10 * ImGui::GetFontSize());
    return open;
}

bool und_ui_strip(und_ui *ui, const char *name)
{
    ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos(at(0, size.y), ImGuiCond_Always, ImVec2(0, 1));
    ImGui::SetNextWindowSizeConstraints(at(size.x, 0), at(size.x, size.y));
    ui->panels++;
    bool open =
        ImGui::Begin(name, nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings |
                         ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoBringToFrontOnFocus);
    ui->strip_height = ImGui::GetWindowSize().y;
    ImGui::PushItemWidth(10 * ImGui::GetFontSize());
    return open;
}

double und_ui_strip_height(const und_ui *ui)
{
    return ui->strip_height;
}

void und_ui_panel_end(und_ui *ui)
{
    ui->panels--;
    ImGui::PopItemWidth();
    ImGui::End();
}

bool und_ui_section(und_ui *ui, const char *label, bool open)
{
    bool shown = ImGui::CollapsingHeader(label, open ? ImGuiTreeNodeFlags_DefaultOpen : 0);
    note_item(ui, label);
    return shown;
}

void und_ui_text(und_ui *ui, const char *format, ...)
{
    (void)ui;
    va_list list;
    va_start(list, format);
    ImGui::TextV(format, list);
    va_end(list);
}

bool und_ui_button(und_ui *ui, const char *label)
{
    bool pressed = ImGui::Button(label);
    note_item(ui, label);
    return pressed;
}

bool und_ui_check(und_ui *ui, const char *label, bool *value)
{
    bool changed = ImGui::Checkbox(label, value);
    note_item(ui, label);
    return changed;
}

bool und_ui_slider(und_ui *ui, const char *label, double *value, double low, double high, const char *format,
                   bool logarithmic)
{
    note_frame(ui, label);
    return ImGui::SliderScalar(label, ImGuiDataType_Double, value, &low, &high, format,
                               (logarithmic ? ImGuiSliderFlags_Logarithmic : 0) |
                                   ImGuiSliderFlags_AlwaysClamp);
}

bool und_ui_integer(und_ui *ui, const char *label, int *value, int low, int high)
{
    note_frame(ui, label);
    return ImGui::SliderInt(label, value, low, high, "%d", ImGuiSliderFlags_AlwaysClamp);
}

bool und_ui_choice(und_ui *ui, const char *label, int *value, const char *const *names, int count)
{
    note_frame(ui, label);
    bool changed = false;
    if (ImGui::BeginCombo(label, *value >= 0 && *value < count ? names[*value] : "")) {
        for (int i = 0; i < count; i++) {
            if (ImGui::Selectable(names[i], i == *value)) {
                *value = i;
                changed = true;
            }
            note_item(ui, names[i]);
        }
        ImGui::EndCombo();
    }
    return changed;
}

bool und_ui_radio(und_ui *ui, const char *label, bool on)
{
    bool pressed = ImGui::RadioButton(label, on);
    note_item(ui, label);
    return pressed;
}

bool und_ui_field(und_ui *ui, const char *label, char *text, size_t size)
{
    note_frame(ui, label);
    return ImGui::InputText(label, text, size, ImGuiInputTextFlags_EnterReturnsTrue);
}

void und_ui_beside(und_ui *ui)
{
    (void)ui;
    ImGui::SameLine();
}
void und_ui_column(und_ui *ui, double x)
{
    ImGui::SameLine((float)(x * ui->scale));
}
void und_ui_line(und_ui *ui)
{
    (void)ui;
    ImGui::Separator();
}
void und_ui_tip(und_ui *ui, const char *text)
{
    (void)ui;
    if (ImGui::IsItemHovered())
        ImGui::SetTooltip("%s", text);
}
void und_ui_width(und_ui *ui, double width)
{
    ImGui::SetNextItemWidth((float)(width * ui->scale));
}

und_ui_area und_ui_canvas(und_ui *ui, const char *label, double width, double height)
{
    ImVec2 size = at(width > 0 ? width : fmax(ImGui::GetContentRegionAvail().x, 16), height);
    ImGui::InvisibleButton(label, size);
    note_item(ui, label);
    ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax(), mouse = ImGui::GetIO().MousePos;
    return {low.x, low.y, high.x, high.y, ImGui::IsItemHovered(), ImGui::IsItemActive(), mouse.x, mouse.y};
}

void und_ui_menu_bar(und_ui *ui)
{
    ImGui::BeginMainMenuBar();
    ui->menu_height = ImGui::GetWindowSize().y;
}
void und_ui_menu_bar_end(und_ui *ui)
{
    (void)ui;
    ImGui::EndMainMenuBar();
}
bool und_ui_menu(und_ui *ui, const char *label)
{
    bool open = ImGui::BeginMenu(label);
    note_item(ui, label);
    return open;
}
void und_ui_menu_end(und_ui *ui)
{
    (void)ui;
    ImGui::EndMenu();
}
bool und_ui_entry(und_ui *ui, const char *label, const char *key, bool checked, bool enabled)
{
    bool chosen = ImGui::MenuItem(label, key, checked, enabled);
    note_item(ui, label);
    return chosen;
}
double und_ui_menu_height(const und_ui *ui)
{
    return ui->menu_height;
}

void und_ui_draw_line(und_ui *ui, double x0, double y0, double x1, double y1, unsigned color, double width)
{
    canvas_of(ui)->AddLine(at(x0, y0), at(x1, y1), color_of(color), (float)width);
}
void und_ui_draw_rect(und_ui *ui, double x0, double y0, double x1, double y1, unsigned color, bool filled)
{
    if (filled)
        canvas_of(ui)->AddRectFilled(at(x0, y0), at(x1, y1), color_of(color));
    else
        canvas_of(ui)->AddRect(at(x0, y0), at(x1, y1), color_of(color));
}
void und_ui_draw_text(und_ui *ui, double x, double y, unsigned color, const char *text)
{
    canvas_of(ui)->AddText(at(x, y), color_of(color), text);
}
void und_ui_draw_circle(und_ui *ui, double x, double y, double radius, unsigned color, double width)
{
    canvas_of(ui)->AddCircle(at(x, y), (float)radius, color_of(color), 0, (float)width);
}
void und_ui_text_size(const und_ui *ui, const char *text, double *width, double *height)
{
    (void)ui;
    ImVec2 size = ImGui::CalcTextSize(text);
    *width = size.x;
    *height = size.y;
}
