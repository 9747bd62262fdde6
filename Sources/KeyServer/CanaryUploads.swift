// SPDX-License-Identifier: Apache-2.0
import UploadToken

/// The names of the uploads of `firebreak canary`, whose synthetic phones probe the servers.
///
/// They have an app, a region and an export of their own: no statistics count them, and their keys are in no file that
/// real phones read.
package enum CanaryUploads {
  /// The app, whose uploads are not counted.
  package static let app = "firebreak.canary"
  /// The region of the keys: a code that ISO 3166 leaves to its users.
  package static let region = "ZZ"
  /// The file name root of the export.
  package static let exportRoot = "canary"

  /// The entry in the registry, for uploads with the tokens of `issuer`.
  static func app(of issuer: String) -> AuthorizedApp {
    AuthorizedApp(id: app, regions: [region], authorities: [issuer])
  }

  /// True if the token of `grant` is for uploads of `app`: that of a canary for the canary's app only, because no count
  /// shows its codes, and the others for all other apps.
  static func mayUpload(_ app: String, with grant: UploadGrant) -> Bool {
    grant.isCanary == (app == Self.app)
  }

  /// The export, with the period of the public one.
  static func export(periodSeconds: Int) -> ExportConfiguration {
    var export = ExportConfiguration(filenameRoot: exportRoot, region: region)
    export.periodSeconds = periodSeconds
    // The keys of a canary need not be hidden among others.
    (export.minimumKeys, export.paddingRange) = (0, 0)
    return export
  }
}
