import { within } from "../../../core/waiting/within.ts";

/** Longest body of a form, in bytes. */
const MOST_BYTES = 64 * 1024;

/** A form has to arrive within this time, ms. */
const LIMIT_MS = 10_000;

/** The fields of a form. */
export type FormFields = Readonly<Record<string, string>>;

/** A form that was not read, and the status that says why. */
export class FormProblem extends Error {
  /** Literal name of the class. */
  override readonly name = "FormProblem";
  /** Status of the answer. */
  readonly status: 400 | 408 | 413;

  /** @param message What was wrong. */
  constructor(status: 400 | 408 | 413, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Reads the fields of a form. Anybody can send one, even without being signed
 * in, so its length and its duration are bounded.
 *
 * @throws {FormProblem} When it is too long, late or broken.
 */
export async function readForm(
  request: Pick<Request, "body">,
  limitMs: number = LIMIT_MS,
): Promise<FormFields> {
  const bytes = await readBody(request, limitMs);
  const text = new TextDecoder().decode(bytes);
  return Object.fromEntries(new URLSearchParams(text));
}

async function readBody(
  { body }: Pick<Request, "body">,
  limitMs: number,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  try {
    return await within(
      limitMs,
      undefined,
      () => new FormProblem(408, "The form did not arrive in time"),
      async () => {
        const parts: Uint8Array[] = [];
        for (let bytes = 0;;) {
          const { done, value } = await reader.read();
          if (done) {
            const all = new Blob(parts as BlobPart[]);
            return new Uint8Array(await all.arrayBuffer());
          }
          bytes += value.length;
          if (bytes > MOST_BYTES) {
            throw new FormProblem(413, "The form is too long");
          }
          parts.push(value);
        }
      },
    );
  } catch (error) {
    reader.cancel().catch(() => {}); // It may be broken already.
    if (error instanceof FormProblem) throw error;
    throw new FormProblem(400, "The form was cut off");
  }
}
