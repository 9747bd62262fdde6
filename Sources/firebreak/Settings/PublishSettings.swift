import Foundation
import KeyServer

/// How `/v1/publish` is set up. Documentation/KeyServer.md 7 and 9.
struct PublishSettings: Codable {
  var defaultRegion: String?
  var allowsPartialRevisions: Bool
  /// What revision tokens are bound to.
  var revisionContext: String

  /// The defaults.
  init() {
    let standard = PublishConfiguration()
    allowsPartialRevisions = standard.allowsPartialRevisions
    revisionContext = String(decoding: standard.revisionContext, as: UTF8.self)
  }

  init(from decoder: any Decoder) throws {
    self.init()
    let fields = try SettingFields<CodingKeys>(decoder)
    try fields.read(.defaultRegion, into: &defaultRegion)
    try fields.read(.allowsPartialRevisions, into: &allowsPartialRevisions)
    try fields.read(.revisionContext, intoName: &revisionContext)
  }

  /// What the key server is told.
  var configuration: PublishConfiguration {
    var publish = PublishConfiguration()
    publish.defaultRegion = defaultRegion
    publish.allowsPartialRevisions = allowsPartialRevisions
    publish.revisionContext = Data(revisionContext.utf8)
    return publish
  }
}
