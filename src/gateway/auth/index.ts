export { authFailureCode, authFailureMessage } from "./failure-message.ts";
