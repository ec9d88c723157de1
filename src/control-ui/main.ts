import { ChatStore } from "./chat/store.ts";
import { GatewayClient } from "./gateway/client.ts";
import { saveSettings } from "./gateway/storage.ts";
import { applyLocale, locale } from "./i18n/index.ts";
import { OverviewStore } from "./overview-store.ts";
import { Router, takeFragmentToken } from "./ui/router.ts";
import { followTheme } from "./ui/theme.ts";
import { OpenclawApp } from "./app.ts";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/chat.css";
import "./styles/overview.css";

const token = takeFragmentToken();
if (token !== undefined) saveSettings({ token });
followTheme();
applyLocale();

const router = new Router();
const scheme = location.protocol === "https:" ? "wss" : "ws";
const client = new GatewayClient(`${scheme}://${location.host}${import.meta.env.DEV ? "/ws" : `${router.base}/`}`, locale);
const ctx = { client, router, chat: new ChatStore(client), overview: new OverviewStore(client) };

// A dashboard link pasted into an open page changes the fragment only.
addEventListener("hashchange", () => {
  const pasted = takeFragmentToken();
  if (pasted === undefined) return;
  saveSettings({ token: pasted });
  client.connect();
});

const app = new OpenclawApp();
app.ctx = ctx;
document.body.prepend(app);
client.connect();
