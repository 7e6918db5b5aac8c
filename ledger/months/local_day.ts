/**
 * Finds the day of a time zone in which a moment lies, by the time zone data of
 * the runtime.
 *
 * @throws {RangeError} When there is no such time zone.
 */
export function localDay(timeZone: string): (time: string) => string {
  const format = new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return (time) => {
    const part: Record<string, string> = {};
    for (const { type, value } of format.formatToParts(Date.parse(time))) {
      part[type] = value;
    }
    return `${part.year?.padStart(4, "0")}-${part.month}-${part.day}`;
  };
}

/** The month of a day: `2026-11` of `2026-11-20`. */
export function monthOf(day: string): string {
  return day.slice(0, 7);
}

/** The month after a month: `2027-01` after `2026-12`. */
export function monthAfter(month: string): string {
  const [year = "", number = ""] = month.split("-");
  return number === "12"
    ? `${String(Number(year) + 1).padStart(4, "0")}-01`
    : `${year}-${String(Number(number) + 1).padStart(2, "0")}`;
}
