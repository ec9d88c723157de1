export { createImageWorker } from "./image-worker.ts";
export { toModelImage } from "./model-image.ts";
export { imageSize } from "./image-size.ts";
export { extensionOf, mimeTypeOf, sniffImageType } from "./mime.ts";
export { inboundMediaDir, isStoredMediaPath, readStoredMedia, saveMedia } from "./store.ts";
export { resolveOutboundMedia, type FilesToSend, type ResolvedMedia, type ResolveMediaOptions } from "./outbound.ts";
