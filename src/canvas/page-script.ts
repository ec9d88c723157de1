/**
 * What a page of the canvas can do beside its own: tell the app that shows it what a person did
 * (`OpenClaw.sendUserAction`), and come anew when its files change.
 */
const ACTIONS = `
  const send = (action) => {
    const body = JSON.stringify({ userAction: typeof action === "string" ? { name: action } : action });
    const ios = globalThis.webkit?.messageHandlers?.openclawCanvasA2UIAction;
    const android = globalThis.openclawCanvasA2UIAction;
    if (ios) ios.postMessage(JSON.parse(body));
    else if (android) android.postMessage(body);
    else return false;
    return true;
  };
  globalThis.OpenClaw = { ...globalThis.OpenClaw, sendUserAction: send };
  globalThis.openclawSendUserAction = send;`;

const RELOAD = `
  const cap = /^\\/__openclaw__\\/cap\\/([A-Za-z0-9_-]+)\\//.exec(location.pathname)?.[1] ?? new URLSearchParams(location.search).get("oc_cap");
  const listen = () => {
    const socket = new WebSocket(location.origin.replace(/^http/, "ws") + "/__openclaw__/ws" + (cap ? "?oc_cap=" + cap : ""));
    socket.onmessage = (event) => event.data === "reload" && location.reload();
    socket.onclose = () => setTimeout(listen, 3000);
  };
  listen();`;

/** The page with the script before the end of its body. */
export function withPageScript(html: Buffer, liveReload: boolean): Buffer {
  const script = `<script>(() => {${ACTIONS}${liveReload ? RELOAD : ""}\n})();</script>`;
  const text = html.toString("utf8");
  const end = text.toLowerCase().lastIndexOf("</body>");
  return Buffer.from(end === -1 ? `${text}${script}` : `${text.slice(0, end)}${script}${text.slice(end)}`);
}
