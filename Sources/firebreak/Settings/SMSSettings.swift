import Foundation
import VerificationServer

/// How codes are sent to phones. Documentation/Serving.md 13, Documentation/VerificationServer.md 7.
struct SMSSettings: Codable {
  var region: String
  /// The domain of links; without one they are `ens://`.
  var linkDomain: String?
  /// The texts by label.
  var templates = [SMSConfiguration.standardLabel: SMSConfiguration.standardTemplate]
  var defaultTemplate = SMSConfiguration.standardLabel
  /// Signs texts; without it they are not signed.
  var signing: SMSSigningSettings?
  /// A folder that a gateway takes texts from, one file each.
  var folder: String?
  /// A file that texts are appended to.
  var file: String?
  /// A gateway that is asked over HTTP.
  var gateway: SMSGatewaySettings?

  init(from decoder: any Decoder) throws {
    let fields = try SettingFields<CodingKeys>(decoder)
    region = try fields.name(.region)
    try fields.read(.linkDomain, into: &linkDomain)
    try fields.read(.templates, into: &templates)
    try fields.read(.defaultTemplate, intoName: &defaultTemplate)
    try fields.read(.signing, into: &signing)
    try fields.read(.folder, into: &folder)
    try fields.read(.file, into: &file)
    try fields.read(.gateway, into: &gateway)
    guard [folder != nil, file != nil, gateway != nil].count(where: { $0 }) == 1 else {
      throw CommandFailure.badInput(
        "\(decoder.codingPath.place) needs one of folder, file and gateway, to carry the texts.")
    }
  }

  /// What the verification server is told; files are looked for from `home` on.
  func configuration(in home: URL) throws -> SMSConfiguration {
    var configuration = SMSConfiguration(
      sender: try sender(in: home), region: region, linkDomain: linkDomain,
      signer: try signing?.signer(in: home))
    configuration.templates = templates
    configuration.defaultTemplate = defaultTemplate
    return configuration
  }

  private func sender(in home: URL) throws -> any SMSSending {
    if let gateway { return try gateway.gateway(in: home) }
    if let folder {
      let url = home.file(named: folder)
      try require(url, of: "sms.folder")
      return SMSSpool(folder: url)
    }
    let url = home.file(named: file ?? "")
    try require(url.deletingLastPathComponent(), of: "sms.file")
    try requireForTexts(url)
    return SMSFile(file: url)
  }

  /// A file that is there holds texts for its owner's eyes, or nothing: whatever else it is would be spoilt by
  /// the first code, and codes that others can read are everybody's.
  private func requireForTexts(_ file: URL) throws {
    guard let facts = try? FileManager.default.attributesOfItem(atPath: file.path) else { return }
    let rights = (facts[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
    guard facts[.type] as? FileAttributeType == .typeRegular, rights & 0o077 == 0,
      let handle = try? FileHandle(forReadingFrom: file),
      let beginning = try? handle.read(upToCount: Self.textsBegin.utf8.count) ?? Data(),
      beginning.isEmpty || beginning == Data(Self.textsBegin.utf8)
    else {
      throw CommandFailure.badInput(
        "sms.file: \(file.path.printable) holds something else than texts, or is not its owner's only:"
          + " name another, or chmod 600 it.")
    }
  }

  /// How the first line of such a file begins.
  private static let textsBegin = #"{"phone":"#

  /// A folder that is not there would be found out with the first code.
  private func require(_ folder: URL, of setting: String) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder),
      isFolder.boolValue, access(folder.path, W_OK) == 0
    else {
      throw CommandFailure.badInput(
        "\(setting): there is no folder \(folder.path.printable) to write to: make it.")
    }
  }
}
