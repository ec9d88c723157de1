export { authFailureCode, authFailureMessage } from "./failure-message.ts";
export { httpAuthority } from "./http-authority.ts";
