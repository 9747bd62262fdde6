// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import KeyServerAPI
import PhoneProcess
import RiskRules
import Terminal
import TextEncodings

/// The configuration of a phone: a JSON file that is read like the settings of the servers, strictly.
package struct PhoneConfigurationFile {
  private var verificationServer = URL(fileURLWithPath: "/")
  private var keyServer = URL(fileURLWithPath: "/")
  private var statistics: String?
  private var regions: [String] = []
  private var appID = ""
  private var platform = "android"
  private var riskVersion = 1
  private var windowRisk: WindowRiskConfiguration?
  private var rootKeyPEM = ""
  private var manufacturer: String?
  private var model: String?
  private var device: String?
  private var measured: CalibrationSettings?
  private var path = ""
  /// The radio; `nil` for none.
  package private(set) var radio: String? = "none"
  /// The path of the sealing key; `nil` if it comes from elsewhere.
  package private(set) var keyFile: String?

  /// Reads the file at `path`.
  ///
  /// - Throws: `CommandFailure` that names the file, the field and the values it accepts.
  package init(at path: String) throws {
    let url = URL(fileURLWithPath: path)
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw CommandFailure.badInput(
        "There is no configuration \(path.printable): name it with --config, or write it as in"
          + " Documentation/Phone.md.")
    }
    self.path = url.path.printable
    _ = try SettingsFile(url: url).resolve(
      Self.table, into: &self, readsFiles: true, options: [:])
  }

  /// The configuration of a phone of this machine's servers: the verification server on `port`, and the key server on
  /// the next one.
  package init(ofServersWithRootKey pem: String, port: Int) throws {
    rootKeyPEM = pem
    let host = "http://127.0.0.1"
    for (field, port) in [(\Self.verificationServer, port), (\Self.keyServer, port + 1)] {
      if let address = WebAddress("\(host):\(port)") { self[keyPath: field] = address.url }
    }
    regions = ["PL"]
    appID = "pl.gov.mc.protegosafe"
  }

  /// The configuration without any field, for the documentation.
  package init() {}

  /// The settings of the phone.
  ///
  /// - Throws: `CommandFailure` if the root key is not valid, or fields that belong together are missing.
  package var settings: PhoneSettings {
    get throws {
      let app = AppConfiguration(
        verificationServer: verificationServer, keyServer: keyServer, region: regions[0],
        otherRegions: Array(regions.dropFirst()), platform: platform, appPackageName: appID,
        rootKey: try rootKey,
        windowRisk: try windowRiskAssessment)
      return PhoneSettings(
        app: app, calibration: try calibration,
        statistics: statistics.flatMap { WebAddress($0)?.url })
    }
  }

  private var rootKey: RootKey {
    get throws {
      do {
        return try RootKey(publicKeyPEM: rootKeyPEM)
      } catch {
        throw CommandFailure.badInput(
          "\(path): rootKey must name a file with a P-256 public key in PEM.")
      }
    }
  }

  private var calibration: Calibration {
    get throws {
      let isModelNamed = manufacturer != nil || model != nil || device != nil
      if let measured {
        guard !isModelNamed else {
          throw CommandFailure.badInput(
            "\(path): calibration has the values of the radio: remove manufacturer, model and device,"
              + " or calibration.")
        }
        return measured.calibration
      }
      guard isModelNamed else { return .unknownModel }
      guard let manufacturer, let model else {
        throw CommandFailure.badInput(
          "\(path): manufacturer and model must be named together, and device only with both.")
      }
      return .of(manufacturer: manufacturer, model: model, device: device)
    }
  }

  private static let nameForm = "text of 1 to 255 characters in one line"

  private static func isName(_ text: String) -> Bool {
    (1...255).contains(text.count) && !text.contains { $0.isNewline }
  }

  private var windowRiskAssessment: WindowRiskAssessment? {
    get throws {
      guard riskVersion == 2 else { return nil }
      guard let windowRisk else {
        throw CommandFailure.badInput(
          "\(path): windowRisk is missing; riskVersion 2 needs rules until the remote configuration"
            + " has some.")
      }
      do {
        return try WindowRiskAssessment(windowRisk)
      } catch {
        throw CommandFailure.badInput("\(path): windowRisk: \(error.description)")
      }
    }
  }

  private static func windowRisk(at url: URL) throws -> WindowRiskConfiguration {
    let content = try InputFile(url.path, what: "file of windowRisk").content
    do {
      return try JSONDecoder().decode(WindowRiskConfiguration.self, from: content)
    } catch let error as DecodingError {
      throw CommandFailure.badInput(
        "windowRisk: \(error.message(otherwise: "the file must hold a JSON object of rules."))")
    }
  }

  /// The largest number of regions of an upload.
  fileprivate static let regionsMax = 10

  /// The source of the table in Documentation/Phone.md.
  package static var table: SettingsTable<Self> {
    SettingsTable(rows: [
      .address(
        "verificationServer", \.verificationServer, required: true,
        "the server that exchanges PINs for tokens"),
      .address(
        "keyServer", \.keyServer, required: true,
        "the server that accepts keys and publishes key files"),
      .file(
        "rootKey", "the authority's public root key, in PEM; relative to the configuration"
      ) { name, root, place in
        root.rootKeyPEM = try P256KeyFile(place.file(name).path, what: "root key").publicKeyPEM()
      },
      .text(
        "statistics", \.statistics, form: WebAddress.form,
        "the server of the health authority's statistics, for the web app"
      ) { WebAddress($0) != nil },
      .regions(
        "regions", \.regions,
        "the region of the phone, ISO 3166: `PL`, `US-CA`; after it, other regions in which an"
          + " upload is published, as far as the key server allows them for the app"),
      .name("appID", \.appID, required: true, "the identifier of the app, as the servers know it"),
      .choice(
        "platform", \.platform, ["android", "ios"],
        "the platform that uploads state; servers may ask `ios` for an attestation, which this"
          + " phone cannot give"),
      .integer(
        "riskVersion", \.riskVersion, 1...2,
        "the version of the framework's interface: 1 for scores, 2 for exposure windows"),
      .file(
        "windowRisk", required: false,
        "the rules of version 2, until the remote configuration has some: JSON like its"
          + " `windowRiskConfiguration`; relative to the configuration"
      ) { name, root, place in
        root.windowRisk = try windowRisk(at: place.file(name))
      },
      .text(
        "radio", \.radio, form: PhoneRadio.form,
        "the Bluetooth controller; `none` for a phone that only checks and uploads"
        // `form` is the error message.
      ) { (try? PhoneRadio($0)) != nil },
      .text(
        "manufacturer", \.manufacturer, form: nameForm,
        "the manufacturer of the phone's model, such as `Google`, for the calibration of its radio",
        isName),
      .text(
        "model", \.model, form: nameForm, "the name of the model, such as `Pixel 4`",
        isName),
      .text(
        "device", \.device, form: nameForm,
        "the internal name, such as `flame`, which distinguishes variants of a model",
        isName),
      .optionalObject(
        "calibration",
        "the measured values of the phone's radio, instead of `manufacturer` and `model`",
        defaults: CalibrationSettings(), CalibrationSettings.table
      ) { calibration, _, root, _ in root.measured = calibration },
      .text(
        "keyFile", \.keyFile, form: "an absolute path",
        "the file of the sealing key, if no option and no credential of systemd names it"
      ) { $0.hasPrefix("/") },
    ])
  }
}

extension Setting {
  /// A region by its code.
  fileprivate static func regions(
    _ name: String, _ path: WritableKeyPath<Root, [String]>, _ meaning: String
  ) -> Self {
    Self(
      name: name,
      form:
        "a list of 1 to \(PhoneConfigurationFile.regionsMax) codes of two capital letters, or with a"
        + " part such as US-CA",
      meaning: meaning, isRequired: true, fallback: { _ in nil },
      take: { value, root, _ in
        guard case .array(let list) = value else { return nil }
        let regions = list.compactMap(\.string).filter(TravelLimit.isRegion)
        guard regions.count == list.count, Set(regions).count == list.count,
          (1...PhoneConfigurationFile.regionsMax).contains(list.count)
        else { return nil }
        root[keyPath: path] = regions
        return value
      })
  }

  /// One of several texts.
  static func choice(
    _ name: String, _ path: WritableKeyPath<Root, String>, _ choices: [String], _ meaning: String
  ) -> Self {
    Self(
      name: name, form: choices.map { "`\($0)`" }.joined(separator: " or "), meaning: meaning,
      fallback: { .string($0[keyPath: path]) },
      take: { value, root, _ in
        guard let text = value.string, choices.contains(text) else { return nil }
        root[keyPath: path] = text
        return value
      })
  }
}
