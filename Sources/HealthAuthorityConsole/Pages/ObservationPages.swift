import Foundation
import Hummingbird
import QuietHTTP

/// The funnel and the list of exports.
struct ObservationPages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority

  func add(to router: Router<QuietContext>) {
    pages.get(router, "/funnel", .holders(of: .readStatistics), funnel)
    pages.get(router, "/exports", .holders(of: .readStatistics), exports)
  }

  // MARK: - Funnel

  private func funnel(_ visit: Visit) async throws -> Response {
    let least = ConsoleLimit.shownCountMin
    let days = try await authority.funnel().suffix(ConsoleLimit.funnelDaysMax).map {
      ShownFunnelDay($0, least: least)
    }
    let texts = visit.texts
    // Keys in files are many times as many as codes: one scale would hide the codes.
    let drawn: [(TextKey, (ShownFunnelDay) -> ShownCount)] = [
      (.funnelIssued, { $0.issued }), (.funnelRedeemed, { $0.redeemed }),
      (.funnelUploads, { $0.uploads }),
    ]
    func text(_ count: ShownCount) -> String {
      switch count {
      case .exact(let count): "\(count)"
      case .few: texts[.funnelFew, "\(least)"]
      case .unknown: texts[.unknown]
      }
    }
    let chart = Picture.chart(
      title: texts[.funnelChart], columns: days.map { String(visit.day($0.day).dropFirst(5)) },
      series: drawn.map { key, count in
        Picture.Series(
          name: texts[key], values: days.map { count($0).height },
          labels: days.map { day in
            switch count(day) {
            case .exact(let count): "\(count)"
            case .few: "<\(least)"
            case .unknown: "–"
            }
          })
      })
    let values: [String: Any] = [
      "lead": texts[.funnelLead, "\(least - 1)"], "isEmpty": days.isEmpty, "chart": chart,
      "days": days.map { day in
        [
          "day": visit.day(day.day), "issued": text(day.issued), "redeemed": text(day.redeemed),
          "redeemMinutes": day.redeemMinutes.map(String.init) ?? "–",
          "uploads": text(day.uploads), "uploadMinutes": Self.text(day.uploadTime),
          "fileMinutes": Self.text(day.fileTime), "published": text(day.published),
        ]
      },
    ]
    return pages.renderer.response(Page(texts[.funnelTitle], .funnel, values), for: visit)
  }

  private static func text(_ time: MedianTime?) -> String {
    switch time {
    case .under(let minutes): "< \(minutes)"
    case .over(let minutes): "> \(minutes)"
    case nil: "–"
    }
  }

  // MARK: - Exports

  private func exports(_ visit: Visit) async throws -> Response {
    let texts = visit.texts
    let withdrawn = Set((try? await authority.instructions().withdrawn) ?? [])
    let exports = try await authority.exports().enumerated().map { index, export -> [String: Any] in
      let root = export.root.isEmpty ? texts[.exportsFirst] : export.root
      return [
        "number": index + 1, "name": texts[.exportsName, root, export.region],
        "next": texts[
          .exportsNext, visit.time(export.nextFile), "\(export.periodSeconds / 60)",
          "\(export.keysMin)"],
        "hasFiles": !export.files.isEmpty,
        "files": export.files.map { file in
          let signature = texts[file.isSigned ? .exportsValid : .exportsInvalid]
          return [
            "name": file.name, "end": visit.time(file.end), "bytes": "\(file.bytes)",
            "keys": "\(file.keyCount)", "hash": "\(file.hash)",
            "padding": file.padding.map(String.init) ?? "–",
            "signature": withdrawn.contains(file.hash)
              ? "\(signature), \(texts[.exportsWithdrawn])" : signature,
          ]
        },
      ]
    }
    return pages.renderer.response(
      Page(texts[.exportsTitle], .exports, ["exports": exports]), for: visit)
  }
}
