// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import ObjectStore
import Terminal
import TextEncodings

/// The settings of the key server: `keys/settings.json`, the overrides, and the defaults.
package struct KeyServerSettings {
  /// The configuration, complete except for the secrets and the folders of the server.
  package var configuration = Self.defaults
  /// The id of the first key that signs key files.
  package var keyID = "260"
  /// The address of the object store of the key files; nil for the folder alone.
  package var files: String?
  /// The names of the realms of the folder, which `realm add` has stored.
  package var realms: [String] = []
  package var logLevel = Logger.Level.error
  /// All settings that are in force, as JSON that may be used as `settings.json`.
  package private(set) var inForce = JSONValue.object([:])

  package init() {}

  /// Reads `file`. The overrides replace its values.
  ///
  /// - Parameter readsFiles: If false, the file of the DeviceCheck key is not read.
  /// - Throws: `CommandFailure` that names the file, the field and the values it accepts.
  package init(
    _ file: SettingsFile, overrides: SettingOverrides = SettingOverrides(), readsFiles: Bool = true
  ) throws {
    inForce = try file.resolve(
      Self.table, into: &self, readsFiles: readsFiles,
      options: [
        "region": overrides.region.map(JSONValue.string),
        "appPackages": overrides.app.map { .array([.string($0)]) },
        "tokenIssuer": overrides.issuer.map(JSONValue.string),
        "tokenAudience": overrides.audience.map(JSONValue.string),
        "keyID": overrides.keyID.map(JSONValue.string),
        "files": overrides.files.map(JSONValue.string),
      ])
  }

  /// The check of device tokens in one line, which `serve` prints when it starts.
  package var deviceVerificationNote: String {
    let platforms = configuration.deviceVerificationPlatforms.sorted().joined(separator: ", ")
      .printable
    guard !platforms.isEmpty else {
      return "Uploads need no device verification payload: deviceVerificationPlatforms is empty."
    }
    guard let deviceCheck = configuration.deviceCheck else {
      return
        "Uploads of \(platforms) need a device verification payload; its time and transactionId are"
        + " checked, the device token is not: deviceCheck is not set."
    }
    return
      "Uploads of \(platforms) need a device verification payload, whose device token is checked at"
      + " \(deviceCheck.baseURL.absoluteString.printable)."
  }

  /// The source of the table in Documentation/Serving.md.
  package static var table: SettingsTable<Self> {
    SettingsTable(rows: uploadRows + exportRows + otherRows)
  }

  private static var uploadRows: [Setting<Self>] {
    [
      .name(
        "region", \.configuration.region,
        "the region that ProteGO Safe's key files name and contain"),
      .names(
        "regions", \.configuration.regions,
        "the regions that an upload of `appPackages` may name; `[]` is accepted only with"
          + " `publish.defaultRegion`"
      ).defaulting(to: "`region` alone") { .array([.string($0.configuration.region)]) },
      .names(
        "appPackages", \.configuration.appPackages,
        "the apps that may upload, in addition to those of `app add`"),
      .names("platforms", \.configuration.platforms, "the platforms that an upload may name"),
      .name(
        "tokenIssuer", \.configuration.tokenIssuer,
        "`iss` of the tokens; `issuer` of the verification server"),
      .name(
        "tokenAudience", \.configuration.tokenAudience,
        "`aud` of the tokens; `audience` of the verification server"),
      .name("keyID", \.keyID, "the id of the first signing key, when it is made"),
    ]
  }

  private static var exportRows: [Setting<Self>] {
    [
      .integer(
        "exportPeriodSeconds", \.configuration.exportPeriodSeconds, 1...86_400,
        "the period of a key file in seconds; must divide a day"),
      .integer(
        "minimumKeys", \.configuration.minimumKeys, keyCounts,
        "the least number of keys in a key file, padding included"),
      .integer(
        "paddingRange", \.configuration.paddingRange, keyCounts,
        "the largest number of keys that padding adds at random"),
      .integer(
        "maximumKeysPerFile", \.configuration.maximumKeysPerFile,
        1...KeyServerLimit.keysPerFileMax,
        "the largest number of keys in a key file; not less than `minimumKeys` and `paddingRange` together"
      ),
      .text(
        "files", \.files, form: "an address `s3://BUCKET/PREFIX`; see Scaling.md",
        "the object store to which key files and indexes are copied, beside the folder"
      ) {
        // The reason is the form of the setting.
        (try? S3Location($0)) != nil
      },
      .flag(
        "rollUps", \.configuration.rollUps,
        "ProteGO Safe's export has files of 12, 24 and 48 hours too, for phones that were off"),
      exports,
    ]
  }

  private static var otherRows: [Setting<Self>] {
    [
      .names(
        "deviceVerificationPlatforms", \.configuration.deviceVerificationPlatforms,
        "the platforms whose uploads need a device verification payload; each one of `platforms`"),
      .optionalObject(
        "deviceCheck", "the check of device tokens by Apple; without it they are not checked",
        defaults: noDeviceCheck, deviceCheck
      ) { deviceCheck, _, settings, _ in settings.configuration.deviceCheck = deviceCheck },
      .object("publish", \.configuration.publish, defaults: PublishConfiguration(), publish),
      .object(
        "statistics", \.configuration.statistics, defaults: StatisticsConfiguration(), statistics),
      remoteConfiguration,
      .flag(
        "canary", \.configuration.acceptsCanary,
        "accept the uploads of `firebreak canary`, and publish their keys in an export of their own"
      ),
      .realms(\.realms),
      .integer(
        "uploadAttempts", \.configuration.uploadAttempts, 1...KeyServerLimit.uploadAttemptsMax,
        "failed uploads of one address in `uploadWindowSeconds`; then it has to wait"),
      .integer(
        "uploadWindowSeconds", \.configuration.uploadWindowSeconds,
        KeyServerLimit.uploadWindowSeconds,
        "the window of `uploadAttempts` in seconds"),
      .origin(\.configuration.allowedOrigin),
      .proxies(\.configuration.trustedProxies),
      .logLevel(\.logLevel),
    ]
  }

  private static let keyCounts = 0...KeyServerLimit.keysPerFileMax

  private static var defaults: KeyServerConfiguration {
    let none = URL(fileURLWithPath: "/dev/null")
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: none, databaseKey: Data(count: KeyServerLimit.databaseKeyBytes),
      exportFolder: none, regions: [],
      appPackages: ["pl.gov.mc.protegosafe"], tokenIssuer: ServerNames.issuer,
      tokenAudience: ServerNames.audience, tokenPublicKeysPEM: [:], exportSigners: [], region: "PL",
      deviceCheck: nil, remoteConfiguration: RemoteConfiguration(version: 1))
    configuration.rollUps = true
    return configuration
  }
}

extension KeyServerSettings {
  private static let noDeviceCheck = DeviceCheckConfiguration(
    baseURL: DeviceCheckConfiguration.productionURL, teamID: "", keyID: "", privateKeyPEM: "")

  private static var deviceCheck: SettingsTable<DeviceCheckConfiguration> {
    SettingsTable(rows: [
      .address("baseURL", \.baseURL, "the address of DeviceCheck"),
      .name("teamID", \.teamID, required: true, "the developer team"),
      .name("keyID", \.keyID, required: true, "the id of the team's key"),
      .file("keyFile", "the `.p8` file of the key, as Apple issues it") {
        file, deviceCheck, place in
        deviceCheck.privateKeyPEM = try place.privateKey(file)
      },
      .names(
        "bundleIDs", \.bundleIDs,
        "the team's apps, by `appPackageName`; uploads of others are refused without a request; empty for all apps"
      ),
    ])
  }

  private static var publish: SettingsTable<PublishConfiguration> {
    SettingsTable(rows: [
      .text(
        "defaultRegion", \.defaultRegion, "the region of keys of an app without regions of its own"),
      .flag(
        "allowsPartialRevisions", \.allowsPartialRevisions,
        "if true, keys that are not in the revision token are dropped one by one; otherwise the upload is"
          + " refused"),
      Setting(
        name: "revisionContext", form: "text of 16 to 255 bytes in one line",
        meaning:
          "a constant that revision tokens are bound to; a new value invalidates issued tokens",
        fallback: { .string(String(decoding: $0.revisionContext, as: UTF8.self)) },
        take: { value, publish, _ in
          guard let text = value.name else { return nil }
          publish.revisionContext = Data(text.utf8)
          return value
        }),
    ])
  }

  private static var statistics: SettingsTable<StatisticsConfiguration> {
    SettingsTable(rows: [
      .integer(
        "uploadsMin", \.uploadsMin, KeyServerLimit.statisticsUploadsMin...Int.max,
        "a day is shown only if it has this many uploads"),
      .integer(
        "delaySeconds", \.delaySeconds, KeyServerLimit.statisticsDelaySeconds,
        "a day is shown only this many seconds after its end"),
    ])
  }
}

// MARK: - Exports

extension KeyServerSettings {
  /// Exports in addition to ProteGO Safe's.
  private static var exports: Setting<Self> {
    Setting(
      name: "furtherExports",
      form: "a list of at most \(KeyServerLimit.exportCountMax - 1) objects",
      meaning: "exports in addition to ProteGO Safe's", shownDefault: "`region` in Google's layout",
      allowsNull: true,
      parts: export.descriptions(defaults: ExportConfiguration(filenameRoot: "", region: ""))
        .map { $0.inside("[]") },
      fallback: {
        let region = JSONValue.string($0.configuration.region)
        return .array([.object(["filenameRoot": region, "region": region])])
      },
      take: { value, settings, place in
        guard case .array(let list) = value else { return nil }
        var exports: [ExportConfiguration] = []
        let inForce = try list.enumerated().map { index, tree in
          var configuration = ExportConfiguration(filenameRoot: "", region: "")
          configuration.periodSeconds = settings.configuration.exportPeriodSeconds
          configuration.minimumKeys = settings.configuration.minimumKeys
          configuration.paddingRange = settings.configuration.paddingRange
          configuration.maximumKeysPerFile = settings.configuration.maximumKeysPerFile
          let inForce = try export.resolve(
            tree, into: &configuration, at: place.element(index))
          exports.append(configuration)
          return inForce
        }
        settings.configuration.furtherExports = exports
        return .array(inForce)
      })
  }

  private static var export: SettingsTable<ExportConfiguration> {
    SettingsTable(rows: [
      .name(
        "filenameRoot", \.filenameRoot, required: true,
        "the folder of the files; letters, digits, `-` and `_`"),
      .name("region", \.region, required: true, "the region that the files name"),
      .names("inputRegions", \.inputRegions, "the regions whose keys are included")
        .defaulting(to: "`region` alone") { .array([.string($0.region)]) },
      .names("excludedRegions", \.excludedRegions, "regions whose keys are excluded"),
      Setting(
        name: "travellers", form: "one of " + travellers.joined(separator: ", "),
        meaning: "the handling of keys of users who consented to sharing abroad",
        fallback: { .string($0.travellers.rawValue) },
        take: { value, export, _ in
          guard let way = value.string.flatMap(ExportConfiguration.Travellers.init) else {
            return nil
          }
          export.travellers = way
          return value
        }),
      .integer("periodSeconds", \.periodSeconds, 1...86_400, "as `exportPeriodSeconds`")
        .inherited(),
      .integer("minimumKeys", \.minimumKeys, keyCounts, "as `minimumKeys` above").inherited(),
      .integer("paddingRange", \.paddingRange, keyCounts, "as `paddingRange` above").inherited(),
      .integer(
        "maximumKeysPerFile", \.maximumKeysPerFile, 1...KeyServerLimit.keysPerFileMax,
        "as `maximumKeysPerFile` above"
      ).inherited(),
    ])
  }

  private static let travellers = ExportConfiguration.Travellers.allCases.map(\.rawValue)
}

extension Setting<ExportConfiguration> {
  /// The setting with the default that it has for the whole server.
  fileprivate func inherited() -> Self {
    defaulting(to: "the server's", fallback)
  }
}

// MARK: - Remote configuration

extension KeyServerSettings {
  /// The document for phones. A phone ignores fields that it cannot read; here they are refused.
  private static var remoteConfiguration: Setting<Self> {
    Setting(
      name: "remoteConfiguration", form: "an object with `version`, 1 or more",
      meaning:
        "the configuration that phones download; increase `version` with every change, or phones keep"
        + " what they have",
      shownDefault: "ProteGO Safe's, `version` 1",
      // A configuration has no infinite numbers, which alone cannot be encoded.
      fallback: { try? JSONValue(encoding: $0.configuration.remoteConfiguration) },
      take: { value, settings, place in
        let configuration: RemoteConfiguration
        do {
          configuration = try value.decode(RemoteConfiguration.self)
        } catch let error as DecodingError {
          throw CommandFailure.badInput(
            "\(place.path).\(error.message(otherwise: "must be an object"))")
        }
        let inForce = try JSONValue(encoding: configuration)
        if let path = value.firstDifference(from: inForce) {
          throw path.reduce(place) { $0.field($1) }.failure(
            "is not a setting, or has the wrong type: correct it")
        }
        if let fault = configuration.fault {
          throw CommandFailure.badInput("\(place.path).\(fault)")
        }
        // A missing version decodes as 0, and phones would keep the version that they have.
        guard configuration.version >= 1 else {
          throw place.field("version").failure("must be 1 or more: increase it with each change")
        }
        settings.configuration.remoteConfiguration = configuration
        return inForce
      })
  }
}
