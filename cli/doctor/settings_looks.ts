import { type Finding, found } from "../../resources/health/finding.ts";
import type { Config } from "../../settings/config.ts";
import { SHORT_SECRET_LENGTH } from "../../settings/secrets.ts";

/** Looks at the settings alone. */
export function lookAtSettings(
  { apiKey, webhookSecrets }: Config,
): readonly Finding[] {
  const count = webhookSecrets.length;
  const isShort = webhookSecrets.some((one) =>
    one.length < SHORT_SECRET_LENGTH
  );
  return [
    found(apiKey === null ? "api_key_missing" : "api_key_set"),
    count === 0
      ? found("webhook_secret_missing")
      : isShort
      ? found("webhook_secret_short", {
        more: `it has less than ${SHORT_SECRET_LENGTH} characters`,
      })
      : found(
        "webhook_secret_set",
        count === 1 ? {} : {
          more: `${count} are valid at once; take the old ones out when the ` +
            "change is over",
        },
      ),
  ];
}
