// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions of NVIDIA's video decoder (libnvcuvid.so.1). They do nothing, but without the
// library GStreamer also has no cudaupload and no cudadownload.
#define REFUSE(name)                           \
  extern "C" int name() {                      \
    return 801; /* CUDA_ERROR_NOT_SUPPORTED */ \
  }
REFUSE(cuvidCreateDecoder)
REFUSE(cuvidCreateVideoParser)
REFUSE(cuvidCtxLock)
REFUSE(cuvidCtxLockCreate)
REFUSE(cuvidCtxLockDestroy)
REFUSE(cuvidCtxUnlock)
REFUSE(cuvidDecodePicture)
REFUSE(cuvidDestroyDecoder)
REFUSE(cuvidDestroyVideoParser)
REFUSE(cuvidGetDecoderCaps)
REFUSE(cuvidMapVideoFrame64)
REFUSE(cuvidParseVideoData)
REFUSE(cuvidUnmapVideoFrame64)
