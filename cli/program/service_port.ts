import type { OnrampClient } from "../../client/mod.ts";
import type { ServicePort } from "../../resources/operations/operation.ts";
import type { Config } from "../../core/settings/config.ts";

/** What operations ask the service with. */
export function servicePort(
  { apiKey }: Pick<Config, "apiKey">,
  make: (
    options?: { readonly allowUnlistedAssets: boolean },
  ) => OnrampClient,
  about: Pick<ServicePort, "address" | "requestsPerSecond"> = {},
): ServicePort | null {
  if (apiKey === null) return null;
  // One client paces all its sessions.
  let usual: OnrampClient | undefined;
  return {
    lists: () => make(),
    sessions: (allowUnlistedAssets = false) =>
      (allowUnlistedAssets ? make({ allowUnlistedAssets }) : usual ??= make())
        .sessions,
    newClickId: () => crypto.randomUUID(),
    ...about,
  };
}
