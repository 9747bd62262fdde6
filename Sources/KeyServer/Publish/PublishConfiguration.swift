import Foundation
import Secrets

/// The configuration of `/v1/publish`.
public struct PublishConfiguration: Sendable, Redacted {
  /// The region of keys of an app without regions of its own; `nil` to reject such an app.
  public var defaultRegion: String?
  /// If true, keys that are not in the revision token are dropped one by one; otherwise the upload is
  /// rejected.
  public var allowsPartialRevisions = false
  /// A constant of at least 16 bytes that revision tokens are bound to. Servers that share a `databaseKey` need
  /// different constants.
  public var revisionContext = Data("firebreak key server revision token".utf8)

  /// A configuration with all defaults.
  public init() {}
}

extension PublishConfiguration {
  func checked() throws(KeyServerError) {
    guard revisionContext.count >= RevisionLimit.contextBytesMin else {
      throw .configuration(
        "publish.revisionContext must be at least \(RevisionLimit.contextBytesMin) bytes.")
    }
    guard defaultRegion.map(AuthorizedApp.isRegion) ?? true else {
      throw .configuration("publish.defaultRegion must be two upper-case letters.")
    }
  }
}
