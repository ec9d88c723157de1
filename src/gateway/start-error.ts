/** The gateway cannot start; `fix` says what a person does about it. */
export class GatewayStartError extends Error {
  override readonly name = "GatewayStartError";
  readonly fix: string;
  constructor(message: string, fix: string, options?: ErrorOptions) {
    super(message, options);
    this.fix = fix;
  }
}
