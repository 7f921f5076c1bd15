// SPDX-License-Identifier: LGPL-2.1-or-later
// The base class: caps, queries and allocation.
#include "gst/formats.h"
#include "gst/scanfilter_private.h"

namespace cudascan::gst {

static GstBaseTransformClass *parent_class;

static GstCaps *gst_cuda_scan_filter_transform_caps(GstBaseTransform *trans,
                                                    GstPadDirection direction, GstCaps *caps,
                                                    GstCaps *filter) {
  GstCaps *result = other_pad_caps(
      direction, caps, {CudaSide::usable(), class_of(trans)->gray8_from(self_of(trans))});
  if (!filter) return result;
  GstCaps *filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(result);
  return filtered;
}

/// Whether the result for these input caps should be in CUDAMemory, if the next element lets us
/// choose. A frame stays where it is, and one that was computed on the GPU stays there for an
/// element that would rather have it there. But an element that takes anything (filesink, appsink)
/// gets it in system memory: it would not know how to read the other.
static bool prefer_cuda(GstBaseTransform *trans, const GstCaps *in) {
  g_autoptr(GstCaps) peer = gst_pad_peer_query_caps(trans->srcpad, nullptr);
  if (!names_cuda(peer)) return false;
  return is_cuda(in) || (active_backend(trans) == Backend::cuda && is_cuda(peer));
}

static GstCaps *gst_cuda_scan_filter_fixate_caps(GstBaseTransform *trans, GstPadDirection direction,
                                                 GstCaps *caps, GstCaps *candidates) {
  return fixate(candidates, caps,
                direction == GST_PAD_SINK ? prefer_cuda(trans, caps) : is_cuda(caps));
}

/// Leaves LATENCY queries to the parent, which passes them on: no frame waits for a later one. The
/// time of the work, also that on the GPU after a frame has left, is not latency but processing,
/// for which sinks allow (processing-deadline).
static gboolean gst_cuda_scan_filter_query(GstBaseTransform *trans, GstPadDirection direction,
                                           GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      priv_of(trans)->cuda.answer_context_query(query))
    return TRUE;
  const gboolean answered = parent_class->query(trans, direction, query);
  if (answered && GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    GstCaps *caps = nullptr;
    gst_query_parse_caps_result(query, &caps);
    if (caps && !gst_caps_is_any(caps)) {
      caps = gst_caps_ref(caps);
      caps = CudaSide::usable() ? cuda_first(caps, settings_of(trans).backend != Backend::cpu)
                                : without_cuda(caps);
      gst_query_set_caps_result(query, caps);
      gst_caps_unref(caps);
    }
  }
  return answered;
}

static gboolean gst_cuda_scan_filter_set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out) {
  auto priv = priv_of(trans);
  if (!gst_video_info_from_caps(&priv->in_info, in) ||
      !gst_video_info_from_caps(&priv->out_info, out)) {
    GST_CAT_ERROR_OBJECT(class_of(trans)->category, trans,
                         "cannot use caps %" GST_PTR_FORMAT " -> %" GST_PTR_FORMAT, in, out);
    return FALSE;
  }
  return guarded(trans, [&] {
    if (is_cuda(in) || is_cuda(out)) priv->cuda.open(settings_of(trans).device_id);
    reset(trans);
    restart_bits(trans);
    set_formats(trans, {{priv->in_info, priv->out_info}});
  });
}

static gboolean gst_cuda_scan_filter_get_unit_size(GstBaseTransform *, GstCaps *caps, gsize *size) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

/// The size of a frame follows from its caps, whatever the strides of the other side are.
static gboolean gst_cuda_scan_filter_transform_size(GstBaseTransform *trans, GstPadDirection,
                                                    GstCaps *, gsize, GstCaps *other_caps,
                                                    gsize *other_size) {
  return gst_cuda_scan_filter_get_unit_size(trans, other_caps, other_size);
}

static gboolean gst_cuda_scan_filter_propose_allocation(GstBaseTransform *trans,
                                                        GstQuery *decide_query, GstQuery *query) {
  if (!parent_class->propose_allocation(trans, decide_query, query)) return FALSE;
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) return FALSE;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return guarded(trans, [&] {
    if (is_cuda(caps) || active_backend(trans) == Backend::cuda)
      priv_of(trans)->cuda.propose_pool(query, info, is_cuda(caps));
  });
}

static gboolean gst_cuda_scan_filter_decide_allocation(GstBaseTransform *trans, GstQuery *query) {
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) return FALSE;
  const bool ok = guarded(trans, [&] {
    if (is_cuda(caps) || active_backend(trans) == Backend::cuda)
      priv_of(trans)->cuda.decide_pool(query, info, is_cuda(caps));
  });
  if (!ok) return FALSE;

  // The default of the parent for no pool would size its buffers by those of the input.
  if (gst_query_get_n_allocation_pools(query) == 0)
    gst_query_add_allocation_pool(query, nullptr, GST_VIDEO_INFO_SIZE(&info), 0, 0);
  g_autoptr(GstBufferPool) pool = nullptr;
  guint size, min, max;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  if (!pool) pool = gst_video_buffer_pool_new();
  if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr)) {
    GstStructure *config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_set_config(pool, config);
  }
  gst_query_set_nth_allocation_pool(query, 0, pool, MAX(size, GST_VIDEO_INFO_SIZE(&info)), min,
                                    max);
  return parent_class->decide_allocation(trans, query);
}

void install_caps(GstBaseTransformClass *trans_class) {
  parent_class = GST_BASE_TRANSFORM_CLASS(g_type_class_peek_parent(trans_class));
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_fixate_caps);
  trans_class->query = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_query);
  trans_class->set_caps = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_set_caps);
  trans_class->get_unit_size = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_get_unit_size);
  trans_class->transform_size = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_transform_size);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_propose_allocation);
  trans_class->decide_allocation = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_decide_allocation);
}

}  // namespace cudascan::gst
