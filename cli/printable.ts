/** Text from outside, safe to print: it can neither move the cursor nor colour,
 * nor turn round the order in which what stands beside it is read. */
export function printable(text: string): string {
  return text.replace(UNSAFE, "�");
}

const UNSAFE =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
