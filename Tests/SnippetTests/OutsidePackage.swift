// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The package of Documentation/Framework.md, which depends on this one from outside.
///
/// It is in `.build`, so that only its first build compiles the libraries of the framework, and that without those of
/// other packages: see `CopyingCompilers`. `firebreak` beside it links to this repository.
struct OutsidePackage {
  /// A failed build.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The language modes, with the name of the executable of each.
  static let programs = [6: "MyApp", 5: "MyAppInSwift5"]

  /// The time for the first build, which compiles the framework.
  private static let minutesMax = 20

  private static let folder = SharedData.projectRoot.appendingPathComponent(
    ".build/outside-package")
  private static let package = folder.appendingPathComponent("MyApp")
  private static let scratch = folder.appendingPathComponent("build")

  /// The compiler optimizes nothing and writes neither an index nor debug information.
  private static let options = [
    "-c", "release", "--disable-index-store", "-debug-info-format", "none", "-Xswiftc", "-Onone",
    "-Xcc", "-O0", "-Xcxx", "-O0",
  ]

  /// Writes and builds the package of `page`.
  ///
  /// - Throws: `Failure` with the compiler's messages.
  static func build(of page: FrameworkPage) async throws -> OutsidePackage {
    let link = folder.appendingPathComponent("firebreak")
    try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
    if (try? FileManager.default.destinationOfSymbolicLink(atPath: link.path)) == nil {
      try FileManager.default.createSymbolicLink(
        atPath: link.path, withDestinationPath: SharedData.projectRoot.path)
    }
    try write(page.manifest + otherTargets, to: "Package.swift")
    for program in programs.values { try write(page.example, to: "Sources/\(program)/main.swift") }
    for radio in ["MyRadio", "MyRadioInSwift5"] {
      try write(page.radio, to: "Sources/\(radio)/DriverRadio.swift")
    }
    try write(function(with: page.desktop), to: "Sources/MyDesktop/MyDesktop.swift")
    try await swift(["build"] + options)
    return OutsidePackage()
  }

  /// The packages that the package depends on, directly and indirectly, by their identity.
  func dependencies() throws -> Set<String> {
    struct Resolved: Decodable {
      struct Pin: Decodable { let identity: String }
      let pins: [Pin]
    }
    let file = Self.package.appendingPathComponent("Package.resolved")
    let pins = try JSONDecoder().decode(Resolved.self, from: Data(contentsOf: file)).pins
    return Set(pins.map(\.identity))
  }

  /// Runs a program of the package and returns its output.
  func output(of program: String) async throws -> String {
    let file = Self.scratch.appendingPathComponent("release/\(program)")
    let result = try await ChildProcess.run(file)
    guard result.status == 0 else {
      throw Failure(description: "\(program): status \(result.status): \(result.errors)")
    }
    return result.output
  }

  /// The same sources in Swift 5 mode, and the radio in both; a warning is an error.
  private static let otherTargets = """

    let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
    package.targets[0].swiftSettings = strict
    package.targets += [
      .executableTarget(
        name: "MyAppInSwift5", dependencies: package.targets[0].dependencies,
        swiftSettings: [.swiftLanguageMode(.v5)] + strict),
      .target(
        name: "MyRadio", dependencies: [.product(name: "ExposureKeys", package: "firebreak")],
        swiftSettings: strict),
      .target(
        name: "MyRadioInSwift5", dependencies: [.product(name: "ExposureKeys", package: "firebreak")],
        swiftSettings: [.swiftLanguageMode(.v5)] + strict),
      .target(
        name: "MyDesktop",
        dependencies: [
          .product(name: "DesktopNotifications", package: "firebreak"),
          .product(name: "UserNotifications", package: "firebreak"),
        ],
        swiftSettings: strict),
    ]

    """

  /// The statements of the page that show notifications on a desktop, with the names that they use.
  private static func function(with statements: String) -> String {
    """
    import DesktopNotifications
    import Foundation
    import UserNotifications

    func install(
      _ stored: UNAuthorizationOptions?,
      askAndStore: @escaping @Sendable (UNAuthorizationOptions) async -> UNAuthorizationOptions
    ) {
    \(statements)
    }
    """
  }

  /// Writes a file of the package; an unchanged one keeps its date, so that it is not compiled again.
  private static func write(_ text: String, to path: String) throws {
    let file = package.appendingPathComponent(path)
    let folder = file.deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    guard (try? String(contentsOf: file, encoding: .utf8)) != text else { return }
    try Data(text.utf8).write(to: file)
  }

  private static func swift(_ arguments: [String]) async throws {
    let compilers = try CopyingCompilers(in: folder)
    let places = ["--package-path", package.path, "--scratch-path", scratch.path]
    try await ChildProcess.withRunning(
      URL(fileURLWithPath: "/usr/bin/env"), compilers.environment + ["swift"] + arguments + places,
      combinesOutput: true
    ) { compiler in
      let end = ContinuousClock.now + .seconds(60 * minutesMax)
      while compiler.status == nil, ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(100))
      }
      guard compiler.status == 0 else {
        throw Failure(description: "the package outside does not build: \(try compiler.output)")
      }
    }
  }
}
