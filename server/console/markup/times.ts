import { span } from "../../../resources/wording/phrases.ts";
import { type Markup, markup, NOTHING } from "./markup.ts";

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
  const at = moment(time);
  const ago = agoText(time, nowMs);
  return markup`${at} <span class="soft ago">(${ago})</span>`;
}

/** A time without its distance. */
export function moment(time: string | null): Markup {
  return time === null
    ? NOTHING
    : markup`<time datetime="${time}">${timeText(time)}</time>`;
}
