import ArgumentParser

/// Measures what this machine does. Figures that count come from `make bench`, a release build.
struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure matching and the servers; the figures are explained in "
      + "Documentation/Performance.md.",
    subcommands: [
      BenchMatchCommand.self, BenchPublishCommand.self, BenchExportCommand.self,
      BenchAllCommand.self, BenchPublishServerCommand.self, BenchExportFillCommand.self,
    ])
}
