import { span } from "../../wording/span.ts";
import { html, type Markup, NOTHING } from "./html.ts";

/** A time of our own or of the service: `2026-11-20 09:14:05`, in UTC. */
export function timeText(time: string): string {
  return time.slice(0, 19).replace("T", " ");
}

/** How long ago a time is, or that it lies ahead. */
export function agoText(time: string, nowMs: number): string {
  const ms = nowMs - Date.parse(time);
  if (Number.isNaN(ms)) return "";
  return ms < -999 ? `in ${span(-ms)}` : `${span(Math.max(0, ms))} ago`;
}

/** A time with its distance, which machines can read as well. */
export function when(time: string | null, nowMs: number): Markup {
  if (time === null) return NOTHING;
  return html`
    <time datetime="${time}">${timeText(time)}</time> <span
      class="soft">${agoText(time, nowMs)}</span>
  `;
}

/** A time without its distance. */
export function moment(time: string | null): Markup {
  return time === null
    ? NOTHING
    : html`<time datetime="${time}">${timeText(time)}</time>`;
}
