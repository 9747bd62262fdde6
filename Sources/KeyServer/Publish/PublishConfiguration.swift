import Foundation

/// How `/v1/publish` is set up. Documentation/KeyServer.md 7 and 9.
public struct PublishConfiguration: Sendable {
  /// Where the keys of an app without regions of its own count; nil refuses such an app.
  public var defaultRegion: String?
  /// Whether keys that a revision token does not speak of are dropped one by one; otherwise they refuse the
  /// whole upload.
  public var allowsPartialRevisions = false
  /// A constant that revision tokens are bound to: two servers with one wrapping key need two. At least 16
  /// bytes.
  public var revisionContext = Data("firebreak key server revision token".utf8)
  /// The 32 bytes that the keys of revision tokens are kept under; nil keeps them in a file of its own
  /// beside the database, `<database>.wrapping-key`.
  public var wrappingKey: Data?

  /// The defaults.
  public init() {}
}

extension PublishConfiguration {
  func checked() throws(KeyServerError) {
    guard revisionContext.count >= RevisionLimit.contextBytesMin else {
      throw .configuration(
        "publish.revisionContext must be at least \(RevisionLimit.contextBytesMin) bytes.")
    }
    guard wrappingKey == nil || wrappingKey?.count == RevisionLimit.wrappingKeyBytes else {
      throw .configuration("publish.wrappingKey must be \(RevisionLimit.wrappingKeyBytes) bytes.")
    }
    guard defaultRegion.map(AuthorizedApp.isRegion) ?? true else {
      throw .configuration("publish.defaultRegion is two upper-case letters.")
    }
  }
}

extension PublishConfiguration: CustomStringConvertible, CustomReflectable {
  public var description: String { "PublishConfiguration" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
