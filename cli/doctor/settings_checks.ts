import {
  type Config,
  SHORT_SECRET_LENGTH,
  VARIABLES,
} from "../../settings/config.ts";
import { type Check, check } from "../../resources/health/check.ts";

/** Looks at the settings alone. */
export function settingsChecks(config: Config): Check[] {
  return [apiKey(config), webhookSecret(config)];
}

function apiKey({ apiKey }: Config): Check {
  return apiKey === null
    ? check(
      "API key",
      "fail",
      "There is none: nothing can be confirmed, and lost webhooks are not found",
      `Set ${VARIABLES.apiKey} to the key that the service gave you`,
    )
    : check("API key", "ok", "It is set");
}

function webhookSecret({ webhookSecrets }: Config): Check {
  const name = "Webhook secret";
  if (webhookSecrets.length === 0) {
    return check(
      name,
      "warn",
      "There is none here, so this machine cannot run the endpoint",
      `Set ${VARIABLES.webhookSecrets}, for example from: openssl rand -hex 24`,
    );
  }
  const short = webhookSecrets.some((one) => one.length < SHORT_SECRET_LENGTH);
  if (short) {
    return check(
      name,
      "warn",
      `One is shorter than ${SHORT_SECRET_LENGTH} characters and may be guessed`,
      "Take a longer one: openssl rand -hex 24",
    );
  }
  return check(
    name,
    "ok",
    webhookSecrets.length === 1
      ? "One is set"
      : `${webhookSecrets.length} are valid at once; take the old ones out when the change is over`,
  );
}
