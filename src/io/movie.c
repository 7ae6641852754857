#include "base/file.h"
#include "base/parallel.h"
#include "base/status.h"
#include "io/image.h"
#include "io/srgb8.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
#include <stdlib.h>
#include <string.h>

/* x264's bits depend on its number of threads, so that is fixed; `threads` is for the colours alone. */
enum { ENCODER_THREADS = 4, QUIET = 100 };

struct und_movie {
    und_file file;
    int width, height; /* of the images */
    int threads;
    srgb8 table;
    uint8_t *rgb;
    AVFormatContext *format;
    AVStream *stream;
    AVCodecContext *codec;
    struct SwsContext *scaler;
    AVFrame *frame;
    AVPacket *packet;
    int64_t count;
    bool failed;
};

static und_status failed(und_movie *movie, int code, und_error *err)
{
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    movie->failed = true;
    if (movie->format && movie->format->pb && movie->format->pb->error)
        code = movie->format->pb->error; /* the cause, where the encoder only knows the effect */
    av_strerror(code, text, sizeof text);
    return und_error_set(err, UND_FAILED, "cannot write %s: %s", movie->file.path, text);
}

static AVCodecContext *open_encoder(const AVCodec *codec, const und_movie *movie, AVRational rate)
{
    AVCodecContext *context = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!context)
        return NULL;
    context->log_level_offset = QUIET;
    context->width = movie->width & ~1;
    context->height = movie->height & ~1;
    context->pix_fmt = AV_PIX_FMT_YUV420P;
    context->time_base = av_inv_q(rate);
    context->framerate = rate;
    context->color_range = AVCOL_RANGE_MPEG;
    context->color_primaries = AVCOL_PRI_BT709;
    context->color_trc = AVCOL_TRC_BT709;
    context->colorspace = AVCOL_SPC_BT709;
    context->thread_count = ENCODER_THREADS;
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
    if (av_opt_set(context->priv_data, "crf", "18", 0) < 0) { /* not x264: a constant quantiser */
        context->flags |= AV_CODEC_FLAG_QSCALE;
        context->global_quality = 3 * FF_QP2LAMBDA;
    }
    av_opt_set(context->priv_data, "preset", "fast", 0);
    if (avcodec_open2(context, codec, NULL) < 0)
        avcodec_free_context(&context);
    return context;
}

static AVCodecContext *find_encoder(const und_movie *movie, AVRational rate)
{
    AVCodecContext *context = open_encoder(avcodec_find_encoder_by_name("libx264"), movie, rate);
    if (!context)
        context = open_encoder(avcodec_find_encoder(AV_CODEC_ID_H264), movie, rate);
    if (!context)
        context = open_encoder(avcodec_find_encoder(AV_CODEC_ID_MPEG4), movie, rate);
    return context;
}

/* Full-range RGB to limited-range BT.709, the same on every processor. */
static struct SwsContext *make_scaler(int width, int height)
{
    struct SwsContext *scaler =
        sws_getContext(width, height, AV_PIX_FMT_RGB24, width, height, AV_PIX_FMT_YUV420P,
                       SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
    const int *bt709 = sws_getCoefficients(SWS_CS_ITU709);
    if (scaler)
        sws_setColorspaceDetails(scaler, bt709, 1, bt709, 0, 0, 1 << 16, 1 << 16);
    return scaler;
}

static bool make_parts(und_movie *movie, AVRational rate)
{
    movie->codec = find_encoder(movie, rate);
    movie->frame = av_frame_alloc();
    movie->packet = av_packet_alloc();
    movie->rgb = und_alloc((size_t)movie->width * (size_t)movie->height, 3, "movie", NULL);
    if (!movie->codec || !movie->frame || !movie->packet || !movie->rgb)
        return false;
    movie->scaler = make_scaler(movie->codec->width, movie->codec->height);
    movie->frame->format = movie->codec->pix_fmt;
    movie->frame->width = movie->codec->width;
    movie->frame->height = movie->codec->height;
    return movie->scaler && av_frame_get_buffer(movie->frame, 0) >= 0;
}

/* libavformat says what it does, to stderr; its errors come back to us anyway. */
static int call_quietly(int call(AVFormatContext *, AVDictionary **), AVFormatContext *format,
                        AVDictionary **options)
{
    int level = av_log_get_level();
    av_log_set_level(AV_LOG_QUIET);
    int rc = call(format, options);
    av_log_set_level(level);
    return rc;
}

static int write_trailer(AVFormatContext *format, AVDictionary **options)
{
    (void)options;
    return av_write_trailer(format);
}

static int start_file(und_movie *movie)
{
    char url[UND_PATH_MAX + 8];
    snprintf(url, sizeof url, "file:%s", movie->file.temp);
    int rc = avformat_alloc_output_context2(&movie->format, NULL, "mp4", url);
    if (rc < 0)
        return rc;
    movie->format->flags |= AVFMT_FLAG_BITEXACT;
    movie->stream = avformat_new_stream(movie->format, NULL);
    if (!movie->stream)
        return AVERROR(ENOMEM);
    movie->stream->time_base = movie->codec->time_base;
    movie->stream->avg_frame_rate = movie->codec->framerate;
    rc = avcodec_parameters_from_context(movie->stream->codecpar, movie->codec);
    if (rc >= 0)
        rc = avio_open(&movie->format->pb, url, AVIO_FLAG_WRITE);
    if (rc < 0)
        return rc;
    AVDictionary *options = NULL;
    av_dict_set(&options, "movflags", "+faststart", 0);
    rc = call_quietly(avformat_write_header, movie->format, &options);
    av_dict_free(&options);
    return rc;
}

static void destroy(und_movie *movie)
{
    if (movie->format)
        avio_closep(&movie->format->pb);
    avformat_free_context(movie->format);
    avcodec_free_context(&movie->codec);
    sws_freeContext(movie->scaler);
    av_frame_free(&movie->frame);
    av_packet_free(&movie->packet);
    free(movie->rgb);
    free(movie);
}

bool und_movie_supported(void)
{
    return true;
}

und_movie *und_movie_open(const char *path, int width, int height, double fps, int threads, und_error *err)
{
    if (width < 2 || height < 2 || width > 16384 || height > 16384 || !(fps > 0 && fps <= 1000)) {
        und_error_set(err, UND_INVALID, "cannot write %s: %d x %d at %g frames per second is no movie", path,
                      width, height, fps);
        return NULL;
    }
    und_movie *movie = und_alloc(1, sizeof *movie, "movie", err);
    if (!movie || und_file_begin(&movie->file, path, err)) {
        free(movie);
        return NULL;
    }
    movie->width = width;
    movie->height = height;
    movie->threads = threads;
    und_srgb8_init(&movie->table);
    int rc = 0;
    if (!make_parts(movie, av_d2q(fps, 1001000)))
        und_error_set(err, UND_FAILED, "cannot write %s: no encoder for H.264 or MPEG-4, or no memory for it",
                      path);
    else if ((rc = start_file(movie)) < 0)
        failed(movie, rc, err);
    else
        return movie;
    und_file_cancel(&movie->file);
    destroy(movie);
    return NULL;
}

/* Hands a frame to the encoder (NULL: no more come) and writes the packets that it gives back. */
static int encode(und_movie *movie, const AVFrame *frame)
{
    int rc = avcodec_send_frame(movie->codec, frame);
    while (rc >= 0) {
        rc = avcodec_receive_packet(movie->codec, movie->packet);
        if (rc == AVERROR(EAGAIN) || rc == AVERROR_EOF)
            return 0;
        if (rc < 0)
            break;
        movie->packet->stream_index = movie->stream->index;
        movie->packet->duration = 1;
        av_packet_rescale_ts(movie->packet, movie->codec->time_base, movie->stream->time_base);
        rc = av_interleaved_write_frame(movie->format, movie->packet);
    }
    return rc;
}

und_status und_movie_add(und_movie *movie, const und_image *image, und_error *err)
{
    if (image->width != movie->width || image->height != movie->height)
        return und_error_set(err, UND_INVALID, "%s is %d x %d, the image %d x %d", movie->file.path,
                             movie->width, movie->height, image->width, image->height);
    size_t row = 3 * (size_t)movie->width;
    PARALLEL_FOR(movie->threads)
    for (int y = 0; y < movie->height; y++)
        for (size_t i = 0; i < row; i++)
            movie->rgb[(size_t)y * row + i] = srgb8_encode(&movie->table, image->rgb[(size_t)y * row + i]);
    int rc = av_frame_make_writable(movie->frame);
    if (rc >= 0) {
        const uint8_t *rows[4] = {movie->rgb};
        const int strides[4] = {(int)row};
        sws_scale(movie->scaler, rows, strides, 0, movie->codec->height, movie->frame->data,
                  movie->frame->linesize);
        movie->frame->pts = movie->count++;
        rc = encode(movie, movie->frame);
    }
    return rc < 0 ? failed(movie, rc, err) : UND_OK;
}

und_status und_movie_close(und_movie *movie, und_error *err)
{
    if (!movie)
        return UND_OK;
    und_status status = UND_OK;
    if (movie->failed || movie->count == 0) {
        status = und_error_set(err, UND_FAILED, "cannot write %s: %s", movie->file.path,
                               movie->count ? "a frame could not be written" : "it has no frames");
    } else {
        int rc = encode(movie, NULL);
        if (rc >= 0)
            rc = call_quietly(write_trailer, movie->format, NULL);
        if (rc >= 0)
            rc = avio_closep(&movie->format->pb);
        if (rc < 0)
            status = failed(movie, rc, err);
    }
    und_file file = movie->file;
    destroy(movie);
    if (status)
        und_file_cancel(&file);
    return status ? status : und_file_commit(&file, err);
}

void und_movie_cancel(und_movie *movie)
{
    if (!movie)
        return;
    und_file file = movie->file;
    destroy(movie);
    und_file_cancel(&file);
}
