/** Yardstick: express and ws with one route. Prints its port. */
import express from "express";
import { WebSocketServer } from "ws";

const app = express();
app.get("/healthz", (_req, res) => void res.json({ ok: true }));
const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" && address ? address.port : 0);
});
new WebSocketServer({ server });
