// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// A software bill of materials in SPDX 2.3, with the fields that the specification requires.
struct SPDXDocument: Decodable {
  struct Package: Decodable {
    struct Checksum: Decodable {
      let algorithm: String
      let checksumValue: String
    }

    struct Reference: Decodable {
      let referenceCategory: String
      let referenceType: String
      let referenceLocator: String
    }

    let SPDXID: String
    let name: String
    let versionInfo: String
    let downloadLocation: String
    let filesAnalyzed: Bool
    let licenseConcluded: String
    let licenseDeclared: String
    let copyrightText: String
    let checksums: [Checksum]?
    let externalRefs: [Reference]?
  }

  struct CreationInfo: Decodable {
    let created: String
    let creators: [String]
  }

  struct Relationship: Decodable, Hashable {
    let spdxElementId: String
    let relationshipType: String
    let relatedSpdxElement: String
  }

  struct License: Decodable {
    let licenseId: String
    let name: String
    let extractedText: String
  }

  let spdxVersion: String
  let dataLicense: String
  let SPDXID: String
  let name: String
  let documentNamespace: String
  let creationInfo: CreationInfo
  let packages: [Package]
  let relationships: [Relationship]
  let hasExtractedLicensingInfos: [License]

  init(file: String) throws {
    self = try JSONDecoder().decode(
      Self.self, from: try Data(contentsOf: URL(fileURLWithPath: file)))
  }

  func package(_ name: String) -> Package? { packages.first { $0.name == name } }

  /// Checks the document: its form, its licenses, and that it has the parts of the program.
  func check(artifact: String) async throws {
    #expect(spdxVersion == "SPDX-2.3" && dataLicense == "CC0-1.0" && SPDXID == "SPDXRef-DOCUMENT")
    #expect(name == URL(fileURLWithPath: artifact).lastPathComponent)
    #expect(URL(string: documentNamespace)?.scheme == "https")
    #expect(creationInfo.created.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
    #expect(creationInfo.creators.allSatisfy { $0.hasPrefix("Tool: ") })
    checkPackages()
    checkRelationships()
    let sum = try await Shell.run("sha256sum <'\(artifact)'").output.prefix(64)
    let own = try #require(package("firebreak")?.checksums?.first)
    #expect(own.algorithm == "SHA256" && own.checksumValue == sum)
    try checkSwiftPackages()
    try await checkLibraries()
  }

  private func checkPackages() {
    #expect(Set(packages.map(\.SPDXID)).count == packages.count)
    let texts = Dictionary(
      hasExtractedLicensingInfos.map { ($0.licenseId, $0.extractedText) }, uniquingKeysWith: { $1 })
    for package in packages {
      #expect(package.SPDXID.wholeMatch(of: /SPDXRef-[A-Za-z0-9.-]+/) != nil, "\(package.SPDXID)")
      #expect(package.versionInfo.first?.isNumber == true, "\(package.name)")
      #expect(!package.filesAnalyzed && !package.downloadLocation.isEmpty, "\(package.name)")
      #expect(package.copyrightText == "NOASSERTION")
      for license in [package.licenseConcluded, package.licenseDeclared] {
        #expect(license != "NOASSERTION" && !license.isEmpty, "\(package.name)")
        guard license.hasPrefix("LicenseRef-") else { continue }
        #expect((texts[license]?.count ?? 0) > 100, "\(license)")
      }
      for reference in package.externalRefs ?? [] {
        #expect(reference.referenceCategory == "PACKAGE-MANAGER")
        #expect(reference.referenceType == "purl" && reference.referenceLocator.hasPrefix("pkg:"))
      }
    }
  }

  /// The document describes the product, which depends on all other packages.
  private func checkRelationships() {
    let product = "SPDXRef-firebreak"
    let expected = packages.filter { $0.SPDXID != product }.map {
      Relationship(
        spdxElementId: product, relationshipType: "DEPENDS_ON", relatedSpdxElement: $0.SPDXID)
    }
    let described = Relationship(
      spdxElementId: SPDXID, relationshipType: "DESCRIBES", relatedSpdxElement: product)
    #expect(Set(relationships) == Set(expected + [described]))
  }

  /// Each package of Package.resolved is there, in its version.
  private func checkSwiftPackages() throws {
    struct Resolved: Decodable {
      struct Pin: Decodable {
        struct State: Decodable {
          let version: String?
          let revision: String
        }

        let identity: String
        let state: State
      }

      let pins: [Pin]
    }
    let file = SharedData.projectRoot.appendingPathComponent("Package.resolved")
    let resolved = try JSONDecoder().decode(Resolved.self, from: try Data(contentsOf: file))
    #expect(resolved.pins.count > 10)
    for pin in resolved.pins {
      let version = pin.state.version ?? pin.state.revision
      #expect(package(pin.identity)?.versionInfo == version, "\(pin.identity)")
    }
  }

  /// Each library that the program names is there, in the version of its Debian package, and so is Swift's runtime.
  private func checkLibraries() async throws {
    let program = try Run.product().path
    let needed = try await Shell.run("readelf -d '\(program)'").output
      .matches(of: /\(NEEDED\).*\[(.+)\]/).map { String($0.1) }
    #expect(needed.contains { $0.hasPrefix("libsqlite3") })
    let loaded = try await Shell.run("ldd '\(program)'").output
    for library in needed where !library.hasPrefix("ld-linux") {
      let line = try #require(
        loaded.split(separator: "\n").first { $0.contains("\(library) => ") })
      let path = try #require(line.split(separator: " ").dropFirst(2).first)
      let real = try await Shell.run("dpkg -S \"$(readlink -f '\(path)')\" '\(path)' '/usr\(path)'")
      guard let owner = real.output.split(separator: ":").first else { continue }
      let version = try await Shell.run("dpkg-query -W -f='${Version}\\n' '\(owner)'")
        .output.split(separator: "\n").first.map(String.init)
      #expect(package("debian-\(owner)")?.versionInfo == version, "\(library): \(owner)")
    }
    let swift = try #require(package("swift-runtime"))
    #expect(try await Run("--version").output.contains("Swift \(swift.versionInfo)"))
  }
}
