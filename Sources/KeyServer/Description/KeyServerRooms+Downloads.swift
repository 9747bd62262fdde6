import CallableEnvelope
import KeyServerAPI
import QuietHTTP

extension KeyServerRooms {
  /// What phones fetch: the remote configuration, and the index and the files of each of `roots`.
  static func downloads(roots: [String]) -> [OpenAPIOperation] {
    [configurationOperation] + roots.flatMap { [index(of: $0), keyFile(of: $0)] }
  }

  private static let configurationOperation = OpenAPIOperation(
    .get, KeyServerRoute.remoteConfiguration,
    "The remote configuration, signed with the export key.",
    answers: [
      .init(
        200, "The configuration as it was signed, and the signature.",
        .object(
          [
            "payload": .string("Base64 of the JSON that was signed."),
            "signature": .string("Base64 of the ECDSA signature."),
            "keyID": .string("Whose key."), "keyVersion": .string("Which of its keys."),
          ], required: ["payload", "signature", "keyID", "keyVersion"])),
      unchanged,
    ])

  private static func index(of root: String) -> OpenAPIOperation {
    OpenAPIOperation(
      .get, KeyServerRoute.index(of: root), "The key files, oldest first, one a line.",
      answers: [
        .init(
          200, "The lines; nothing before the first export.",
          content: ["text/plain": .string("One relative path a line.")]), unchanged,
      ])
  }

  private static func keyFile(of root: String) -> OpenAPIOperation {
    OpenAPIOperation(
      .get, KeyServerRoute.keyFile("{name}", of: root), "A signed key file that the index names.",
      answers: [
        .init(200, "The file.", content: ["application/zip": .string("The bytes of a zip file.")]),
        unchanged, .init(404, "The index does not name it.", callableRefusal),
      ])
  }

  private static let unchanged = OpenAPIOperation.Answer(
    304, "It is what the entity tag in If-None-Match names.", content: [:])
}
