/** The part of the config that this room reads, always through a getter, so that a reload applies to the next request. */
export interface SecurityConfig {
  readonly gateway?:
    | {
        readonly auth?:
          | {
              readonly mode?: "none" | "token" | "password" | "trusted-proxy" | undefined;
              readonly token?: string | undefined;
              readonly password?: string | undefined;
              readonly allowTailscale?: boolean | undefined;
              readonly rateLimit?:
                | {
                    readonly maxAttempts?: number | undefined;
                    readonly windowMs?: number | undefined;
                    readonly lockoutMs?: number | undefined;
                    readonly exemptLoopback?: boolean | undefined;
                  }
                | undefined;
              readonly trustedProxy?:
                | {
                    readonly userHeader?: string | undefined;
                    readonly requiredHeaders?: readonly string[] | undefined;
                    readonly allowUsers?: readonly string[] | undefined;
                  }
                | undefined;
            }
          | undefined;
        readonly trustedProxies?: readonly string[] | undefined;
        readonly allowRealIpFallback?: boolean | undefined;
        readonly tailscale?: { readonly mode?: "off" | "serve" | "funnel" | undefined } | undefined;
        readonly controlUi?:
          | {
              readonly enabled?: boolean | undefined;
              readonly basePath?: string | undefined;
              readonly root?: string | undefined;
              readonly allowedOrigins?: readonly string[] | undefined;
              readonly dangerouslyAllowHostHeaderOriginFallback?: boolean | undefined;
              readonly allowInsecureAuth?: boolean | undefined;
              readonly dangerouslyDisableDeviceAuth?: boolean | undefined;
            }
          | undefined;
        readonly http?:
          | {
              readonly securityHeaders?:
                | { readonly strictTransportSecurity?: string | false | undefined }
                | undefined;
            }
          | undefined;
      }
    | undefined;
}
