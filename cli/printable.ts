/** Text from outside, safe to print: it cannot move the cursor or colour. */
export function printable(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "�");
}
