import { OnrampClient } from "../../client/client.ts";
import {
  type Environment,
  resolveEnvironment,
} from "../../core/assets/environment.ts";
import { type Config, requireApiKey } from "../../core/settings/config.ts";

/** The configured environment: the preset, with the configured addresses. */
export function serviceEnvironment(
  config: Config,
  environment: string,
): Environment {
  const preset = resolveEnvironment(
    environment === "production" ? "production" : "sandbox",
  );
  const { baseUrl, cardsBaseUrl, widgetOrigin, dashboardUrl } = config;
  return resolveEnvironment({
    name: preset.name,
    assets: preset.assets,
    baseUrl: baseUrl ?? preset.baseUrl,
    cardsBaseUrl: cardsBaseUrl ?? preset.cardsBaseUrl,
    widgetOrigin: widgetOrigin ?? preset.widgetOrigin,
    dashboardUrl: dashboardUrl ?? baseUrl ?? preset.dashboardUrl,
  });
}

/**
 * A client for the configured environment.
 *
 * @throws {UsageError} When no API key is set.
 */
export function serviceClient(
  config: Config,
  environment: string,
  options: {
    readonly requestsPerSecond?: number;
    readonly deadlineMs?: number;
    readonly allowUnlistedAssets?: boolean;
    readonly fetch?: typeof fetch;
  } = {},
): OnrampClient {
  return new OnrampClient({
    apiKey: requireApiKey(config),
    environment: serviceEnvironment(config, environment),
    ...options,
  });
}
