import type { EventContent } from "../../ledger/for_resources.ts";

/** What an event says, in a few words. */
export function describeEventContent(content: EventContent): string {
  switch (content.code) {
    case "webhook":
      return (content.label === "order_redacted"
        ? "what was kept of a webhook"
        : `webhook ${content.label}`) +
        (content.claimed === null ? "" : `, a claim of ${content.claimed}`) +
        (content.hasBody ? "" : ", body erased or unreadable");
    case "reading":
      return `the service shows ${
        content.status ?? "no status that can be read"
      }, changed ${
        content.changedAt ?? "at an unknown time"
      }, read ${content.readAt}`;
    case "absence":
      return `the service does not show the order, read ${content.readAt}`;
    case "contradiction":
      return `the service does not agree with ${content.claimed}, claimed up to ${content.upTo}`;
    case "session":
      return `session ${content.sessionId} was made`;
    case "unreadable":
      return `${content.label}, which says nothing that can be read`;
    case "other":
      return content.label;
  }
}
