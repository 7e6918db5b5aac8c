/** How browsers check an e-mail field, and a dot in the domain. */
const email =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)+$/i;

/** Whether a text is a phone number in E.164: a plus sign and 7 to 15 digits. */
export function isPhone(text: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(text);
}

/** Whether a text has the form of an e-mail address. */
export function isEmail(text: string): boolean {
  return email.test(text);
}

/**
 * Whether a text is a first, middle or last name as the service takes it: 2 to
 * 30 characters of A-Z, a-z and 0-9, not all digits.
 */
export function isPersonName(text: string): boolean {
  return /^(?!\d+$)[A-Za-z0-9]{2,30}$/.test(text);
}

/**
 * Whether a text can be the widget's `full_name`: letters, and somewhere in
 * them two English letters with a space between, which is the SDK's pattern.
 */
export function isFullName(text: string): boolean {
  return text.length >= 3 && text.length <= 69 &&
    /^(?=.*[A-Za-z]\s[A-Za-z])[\p{L}\p{M}\s.'’-]+$/u.test(text);
}

/**
 * Whether the widget takes a click id: letters, digits and `.~:@=_-`; other
 * characters percent-encoded.
 *
 * Source: service interface, "Widget initialisation", `click_id`.
 */
export function isClickId(text: string): boolean {
  return /^(?:[\w.~:@=-]|%[\da-f]{2})+$/i.test(text);
}
