// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("The Debian package", .needs(.process))
struct PackageTests {
  /// A Debian without any further package than those that the package depends on; `scripts/prepare-tests` makes it.
  private static let bareSystem = SharedData.projectRoot.appendingPathComponent(
    ".build/bare-debian")

  private let folder: TemporaryFolder
  private var root: String { folder.path("root").path }

  init() throws { folder = try TemporaryFolder() }

  private func shell(_ command: String) async throws -> String {
    let run = try await Shell.run(command)
    #expect(run.status == 0, "\(command): \(run.output)\(run.errors)")
    return run.output
  }

  /// A command in the bare system, with a `/proc` of its own that ends with the command.
  private func inside(_ command: String) -> String {
    "unshare --mount --propagation private sh -c"
      + " 'mount -t proc proc \(root)/proc && exec chroot \(root) \(command)'"
  }

  /// The package that the tests share, because making one takes half a minute of processor time.
  private static let package = Task {
    try await makePackage(
      in: SharedData.projectRoot.appendingPathComponent(".build/tested-package").path)
  }

  /// Returns the file of a new package in an empty folder.
  private static func makePackage(in output: String) async throws -> String {
    let run = try await Shell.run(
      "rm -rf '\(output)' && cd '\(SharedData.projectRoot.path)'"
        + " && COMPRESSION=none scripts/package '\(Run.product().path)' '\(output)'")
    try #require(run.status == 0, "\(run.output)\(run.errors)")
    let files = try FileManager.default.contentsOfDirectory(atPath: output)
    return output + "/" + (try #require(files.first { $0.hasSuffix(".deb") }))
  }

  @Test(
    "It installs in a bare system, issues a PIN and takes an upload there, and leaves nothing after a purge",
    .enabled(if: geteuid() == 0, "needs root"))
  func installed() async throws {
    try await prepareRoot()
    _ = try await shell(inside("dpkg --install /firebreak.deb"))
    #expect(try await shell(inside("getent passwd firebreak")).contains("/var/lib/firebreak"))
    #expect(try await shell(inside("firebreak --version")).hasPrefix("firebreak "))
    for file in [
      "lib/systemd/system/firebreak.service", "etc/default/firebreak",
      "usr/share/man/man1/firebreak.1.gz", "usr/share/doc/firebreak/copyright",
      "usr/share/firebreak/prometheus/firebreak.rules.yml",
    ] {
      #expect(FileManager.default.fileExists(atPath: "\(root)/\(file)"), "\(file)")
    }
    try await serve()
    _ = try await shell(inside("dpkg --remove firebreak"))
    #expect(!FileManager.default.fileExists(atPath: "\(root)/usr/bin/firebreak"))
    #expect(FileManager.default.fileExists(atPath: "\(root)/var/lib/firebreak/keys/keys.sqlite"))
    _ = try await shell(inside("dpkg --purge firebreak"))
    for path in [
      "var/lib/firebreak", "usr/lib/firebreak", "usr/share/firebreak", "etc/default/firebreak",
    ] {
      #expect(!FileManager.default.fileExists(atPath: "\(root)/\(path)"), "\(path)")
    }
    #expect(try await Shell.run(inside("getent passwd firebreak")).status != 0)
  }

  /// Copies the bare system, and puts the package into it.
  private func prepareRoot() async throws {
    try #require(
      FileManager.default.fileExists(atPath: Self.bareSystem.path),
      "run `make bare-debian`: .build/bare-debian is missing")
    _ = try await shell("cp -a --reflink=auto '\(Self.bareSystem.path)' '\(root)'")
    _ = try await shell("cp '\(Self.package.value)' '\(root)/firebreak.deb'")
  }

  @Test(
    "Reinstalled and upgraded, it starts the servers again, keeps data, and does not enable what was disabled",
    .enabled(if: geteuid() == 0, "needs root"))
  func upgraded() async throws {
    try await prepareRoot()
    let systemctl = """
      #!/bin/sh
      echo "$*" >>/systemctl.log
      case "$1" in
        is-enabled) [ ! -e /disabled ] ;;
        restart) [ ! -e /port-taken ] ;;
      esac
      """
    try FileManager.default.createDirectory(
      atPath: "\(root)/run/systemd/system", withIntermediateDirectories: true)
    try Data(systemctl.utf8).write(to: folder.path("root/usr/bin/systemctl"))
    _ = try await shell("chmod 755 '\(root)/usr/bin/systemctl'")
    /// The commands with which `dpkg` has called systemd.
    func told(by command: String) async throws -> [String] {
      try? FileManager.default.removeItem(atPath: "\(root)/systemctl.log")
      _ = try await shell(inside(command))
      let log = try String(contentsOfFile: "\(root)/systemctl.log", encoding: .utf8)
      return log.split(separator: "\n").map { String($0).replacing(" firebreak.service", with: "") }
    }
    let start = ["daemon-reload", "is-enabled --quiet", "restart"]
    #expect(try await told(by: "dpkg --install /firebreak.deb") == ["enable"] + start)
    let data = "\(root)/var/lib/firebreak/kept"
    try Data().write(to: URL(fileURLWithPath: data))
    let stop = "stop firebreak-*.socket"
    #expect(try await told(by: "dpkg --remove firebreak") == [stop, "daemon-reload"])
    #expect(try await told(by: "dpkg --install /firebreak.deb") == start)
    // A newer version.
    _ = try await shell(
      "cd '\(root)' && dpkg-deb -R firebreak.deb new && sed -i 's/^Version: .*/Version: 99.0/' new/DEBIAN/control"
        + " && dpkg-deb --root-owner-group -Znone --build new new.deb")
    try Data().write(to: folder.path("root/port-taken"))
    #expect(try await told(by: "dpkg --install /new.deb") == ["daemon-reload"] + start)
    let status = try await shell(inside("dpkg --status firebreak"))
    #expect(status.contains("Version: 99.0\n") && status.contains("install ok installed\n"))
    try Data().write(to: folder.path("root/disabled"))
    #expect(try await told(by: "dpkg --install /new.deb") == ["daemon-reload"] + start.dropLast())
    #expect(FileManager.default.fileExists(atPath: data))
  }

  /// Runs the servers as the user of the package, and the walk from a PIN to an accepted upload.
  private func serve() async throws {
    let user = "setpriv --reuid=firebreak --regid=firebreak --init-groups"
    let serve = "firebreak serve --data /var/lib/firebreak --port 0 --metrics-port 0 --json"
    try await ChildProcess.withRunning(
      URL(fileURLWithPath: "/bin/sh"), ["-c", "exec " + inside("\(user) \(serve)")]
    ) { process in
      let line = try await process.firstLine()
      let errors = try process.errors
      let addresses = try JSONSerialization.jsonObject(
        with: Data(try #require(line, "\(errors)").utf8))
      let urls = try #require(addresses as? [String: Any]).compactMapValues { $0 as? String }
      try await walk(verification: urls["verification"] ?? "", keys: urls["keys"] ?? "")
      let metrics = try await LoopbackClient.send("GET", "\(urls["metrics"] ?? "")/metrics")
      #expect(metrics.status == 200)
    }
  }

  private func walk(verification: String, keys: String) async throws {
    let command = "firebreak verification-server api-token --data /var/lib/firebreak"
    let token = try await shell(
      inside("setpriv --reuid=firebreak --regid=firebreak --init-groups \(command)"))
    func post(_ url: String, _ body: [String: Any], _ headers: [(String, String)] = []) async throws
      -> LoopbackClient.Response
    {
      try await LoopbackClient.send(
        "POST", url, headers: [("content-type", "application/json")] + headers,
        body: JSONSerialization.data(withJSONObject: ["data": body]))
    }
    func result(_ response: LoopbackClient.Response) throws -> Any? {
      (try JSONSerialization.jsonObject(with: response.body) as? [String: Any])?["result"]
    }
    let first = token.split(separator: "\n").first.map(String.init) ?? ""
    let code = try result(
      await post("\(verification)/generateCode", [:], [("api-token", first)]))
    let pin = try #require(code as? String)
    let granted = try result(await post("\(verification)/getAccessToken", ["code": pin]))
    let access = try #require((granted as? [String: Any])?["accessToken"] as? String)
    let day = Int(Date().timeIntervalSince1970 / 86_400) - 2
    let key: [String: Any] = [
      "key": Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString(),
      "rollingPeriod": 144, "rollingStartNumber": day * 144, "transmissionRisk": 3,
    ]
    let upload = try await post(
      "\(keys)/uploadDiagnosisKeys",
      [
        "temporaryExposureKeys": [key], "regions": ["PL"], "platform": "android",
        "appPackageName": "pl.gov.mc.protegosafe", "verificationPayload": access,
      ])
    #expect(upload.status == 200, "\(upload.text)")
  }

  @Test("Its SBOM is valid and has its checksum")
  func bill() async throws {
    let package = try await Self.package.value
    try await SPDXDocument(file: package + ".spdx.json").check(artifact: package)
  }

  @Test("Two packages of one program are equal byte for byte")
  func repeated() async throws {
    let first = try await Self.package.value
    let second = try await Self.makePackage(in: folder.path("second").path)
    #expect(try await Shell.run("cmp '\(first)' '\(second)'").status == 0)
  }
}
