import type {
  BaseType,
  Context,
  NodeParser,
  ReferenceType,
  SubNodeParser,
} from "ts-json-schema-generator";

type Node = Parameters<SubNodeParser["supportsNode"]>[0];

/** The part of the compiler's type checker that is used here. */
interface Checker {
  getSymbolAtLocation(
    node: Node,
  ):
    | { readonly valueDeclaration?: unknown; readonly flags: number }
    | undefined;
  // deno-lint-ignore no-explicit-any
  getAliasedSymbol(symbol: any): { readonly valueDeclaration?: unknown };
}

/**
 * Reads a constant that another constant names, as in `{ match: MATCH_FACTS }`:
 * its type is that of its value. The generator itself knows values only where
 * they are written out.
 */
export class ConstantParser implements SubNodeParser {
  readonly #checker: Checker;
  readonly #others: NodeParser;

  constructor(checker: Checker, others: NodeParser) {
    this.#checker = checker;
    this.#others = others;
  }

  supportsNode(node: Node): boolean {
    return Object.hasOwn(node, "escapedText");
  }

  createType(
    node: Node,
    context: Context,
    reference?: ReferenceType,
  ): BaseType {
    const symbol = this.#checker.getSymbolAtLocation(node);
    const declared = symbol && (symbol.valueDeclaration ??
      this.#checker.getAliasedSymbol(symbol).valueDeclaration);
    const { initializer } = Object(declared);
    if (initializer === undefined) {
      throw new TypeError(`No constant: ${Object(node).escapedText}`);
    }
    return this.#others.createType(initializer, context, reference);
  }
}
