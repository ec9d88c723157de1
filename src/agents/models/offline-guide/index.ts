export { createOfflineGuide, OFFLINE_REF, offlineModel } from "./guide.ts";
