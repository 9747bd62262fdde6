import Foundation
import Terminal
import VerificationServer

/// The settings of the sending of codes by SMS: `sms` in `verification/settings.json`.
enum SMSSettings {
  static var setting: Setting<VerificationServerSettings> {
    .optionalObject(
      "sms", "the sending of codes by SMS; without it none are sent", defaults: defaults, table
    ) { configuration, inForce, settings, place in
      guard ["folder", "file", "gateway"].count(where: { inForce[$0] != nil }) == 1 else {
        throw place.failure("must have one of folder, file and gateway, to send the texts")
      }
      settings.configuration.sms = place.readsFiles ? configuration : nil
    }
  }

  private static var defaults: SMSConfiguration {
    SMSConfiguration(sender: SMSFile(file: URL(fileURLWithPath: "/dev/null")), region: "")
  }

  private static var table: SettingsTable<SMSConfiguration> {
    SettingsTable(rows: [
      .name(
        "region", \.region, required: true, "the region in texts and links, such as `PL` or `US-WA`"
      ),
      .text(
        "linkDomain", \.linkDomain,
        "links are `https://<region>.<domain>/v?c=…`; without it `ens://v?…`"),
      templates,
      .name(
        "defaultTemplate", \.defaultTemplate,
        "the label of the template for requests that name none"),
      .optionalObject(
        "signing", "signs the texts, so that phones can tell them from forged ones",
        defaults: Signing(), signing
      ) { signing, _, sms, _ in sms.signer = signing.signer },
      .file(
        "folder", required: false, "each text is a new file in this folder, for a gateway to remove"
      ) {
        name, sms, place in
        sms.sender = SMSSpool(folder: try place.writableFolder(place.file(name)))
      },
      .file("file", required: false, "texts are appended to this file, one JSON object a line") {
        name, sms, place in
        let file = place.file(name)
        _ = try place.writableFolder(file.deletingLastPathComponent())
        try requireTexts(file)
        sms.sender = SMSFile(file: file)
      },
      .optionalObject(
        "gateway", "texts are sent through Twilio's Messages resource", defaults: Gateway(), gateway
      ) { gateway, _, sms, _ in
        sms.sender = SMSGateway(
          baseURL: gateway.baseURL, account: gateway.account, token: gateway.token,
          from: gateway.from)
      },
    ])
  }

  private static var templates: Setting<SMSConfiguration> {
    Setting(
      name: "templates", form: "an object of texts",
      meaning:
        "the texts by label, at most \(VerificationLimit.smsTemplatesMax); each contains `[code]`,"
        + " `[longcode]` or `[enslink]`",
      fallback: { try? .of($0.templates) },
      take: { value, sms, _ in
        guard case .object(let fields) = value else { return nil }
        let templates = fields.compactMapValues(\.text)
        guard templates.count == fields.count else { return nil }
        sms.templates = templates
        return value
      })
  }

  private struct Signing {
    var keyID = ""
    var signer: SMSSigner?
  }

  private static var signing: SettingsTable<Signing> {
    SettingsTable(rows: [
      .name("keyID", \.keyID, required: true, "the id by which phones know the key"),
      .file("keyFile", "the P-256 private key in PEM") { name, signing, place in
        let keyID = signing.keyID
        signing.signer = try place.privateKey(name) {
          try SMSSigner(keyID: keyID, privateKeyPEM: $0)
        }
      },
    ])
  }

  private struct Gateway {
    var baseURL = URL(fileURLWithPath: "/")
    var account = ""
    var token = ""
    var from = ""
  }

  private static var gateway: SettingsTable<Gateway> {
    SettingsTable(rows: [
      .address("baseURL", \.baseURL, required: true, "the address of the gateway"),
      .name("account", \.account, required: true, "the account"),
      .file("tokenFile", "the secret token of the account") { name, gateway, place in
        gateway.token = try place.secret(name)
      },
      .name("from", \.from, required: true, "the number or name that texts come from"),
    ])
  }

  /// Rejects a file with other content than texts, and a file that other users can read.
  private static func requireTexts(_ file: URL) throws {
    guard let facts = try? FileManager.default.attributesOfItem(atPath: file.path) else { return }
    let permissions = (facts[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
    let start = Data(#"{"phone":"#.utf8)
    guard facts[.type] as? FileAttributeType == .typeRegular, permissions & 0o077 == 0,
      let handle = try? FileHandle(forReadingFrom: file),
      let beginning = try? handle.read(upToCount: start.count) ?? Data(),
      beginning.isEmpty || beginning == start
    else {
      throw CommandFailure.badInput(
        "sms.file: \(file.path.printable) contains something other than texts, or others can read it: name"
          + " another file, or chmod 600 it.")
    }
  }
}

extension SettingContext {
  /// Throws if the folder is missing or not writable, so that the error comes before the first text.
  fileprivate func writableFolder(_ folder: URL) throws -> URL {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder),
      isFolder.boolValue, access(folder.path, W_OK) == 0
    else {
      throw CommandFailure.badInput(
        "\(path): \(folder.path.printable) is not a writable folder: create it.")
    }
    return folder
  }
}
