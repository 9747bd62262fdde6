import Crypto
import Foundation

/// Tells the holders of API keys from others.
struct ApiKeyCheck: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys

  /// The id of the key in `header`, where there is such a key of `kind` that was not revoked.
  ///
  /// An unknown id, a wrong secret, another kind and a revoked key take the same steps: the mark of what
  /// was shown is computed and compared, in constant time, whatever was found.
  func holder(of header: String?, kind: ApiKeyKind) async throws -> ApiKeyID? {
    let shown = ApiKeyText(header)
    let record = try await storage.apiKey(shown?.id ?? Self.noID)
    let mark = keys.mark(of: Data((header ?? "").utf8), as: .apiKey)
    let kept = record?.mark ?? Data(repeating: 0, count: mark.count)
    let isEqual = SymmetricKey(data: mark) == SymmetricKey(data: kept)
    guard isEqual, let record, record.kind == kind, record.revokedAt == nil else { return nil }
    return record.id
  }

  private static let noID = ApiKeyID(text: "")
}
