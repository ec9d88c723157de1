import type { ChatStore } from "./chat/store.ts";
import type { GatewayClient } from "./gateway/client.ts";
import type { OverviewStore } from "./overview-store.ts";
import type { Router } from "./ui/router.ts";

/** What the views work with; made once in main.ts and handed down. */
export interface AppContext {
  readonly client: GatewayClient;
  readonly router: Router;
  readonly chat: ChatStore;
  readonly overview: OverviewStore;
}
