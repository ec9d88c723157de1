export { createNodeRegistry, NodeInvokeError, type ConnectedNode, type NodeInvokeResult, type NodeRegistry } from "./registry.ts";
