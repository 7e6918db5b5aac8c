import type { ConfigFlags } from "../../core/settings/config.ts";
import { withoutPasswords } from "../../core/settings/addresses.ts";
import { isPrintable } from "../../core/printable.ts";

/** What no shell reads as anything but itself. */
const PLAIN = /^[A-Za-z0-9_./:@%+,][A-Za-z0-9_./:@%+,=#-]*$/;

/**
 * A value as one word of a printed command, so that pasting the command passes
 * exactly this value: ids come from outside, and a forged one may hold commands.
 *
 * What needs more than plain quotes is written as `$'...'` of bash, zsh and ksh
 * with octal escapes. It never holds a quote or a backslash of the value, so
 * that a shell which does not know this form runs nothing either.
 */
export function shellWord(value: string): string {
  if (PLAIN.test(value)) return value;
  if (isPrintable(value) && !/['\\!]/.test(value)) return `'${value}'`;
  const bytes = new TextEncoder().encode(value);
  const text = Array.from(
    bytes,
    (byte) =>
      byte > 0x1f && byte < 0x7f && !RESERVED.has(byte)
        ? String.fromCharCode(byte)
        : `\\${byte.toString(8).padStart(3, "0")}`,
  ).join("");
  return `$'${text}'`;
}

const RESERVED = new Set([..."'\\!"].map((sign) => sign.charCodeAt(0)));

/** Values that a printed command ends in; one that looks like a flag needs the
 * sign that no flags follow. */
export function operands(...values: readonly string[]): string {
  const words = values.map(shellWord).join(" ");
  return values.some((value) => value.startsWith("-")) ? `-- ${words}` : words;
}

/**
 * A command to go on with, as it is printed: with the flags that named the
 * ledger, because without them it would look at another one. An address that
 * holds a password is left out.
 */
export function nextCommand(
  { databaseUrl, environment }: ConfigFlags,
  command: string,
  operands: string = "",
): string {
  return [
    `  rampkit ${command}`,
    ...given("--database-url", databaseUrl),
    ...given("--environment", environment),
    ...(operands === "" ? [] : [operands]),
  ].join(" ");
}

function given(flag: string, value: string | undefined): string[] {
  return value === undefined || withoutPasswords(value) !== value
    ? []
    : [flag, shellWord(value)];
}
