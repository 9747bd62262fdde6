// SPDX-License-Identifier: Apache-2.0

/// The style sheet of the report, for screens from 320 px on and for paper.
enum TrialReportStyle {
  static let text = """

    :root { color-scheme: light dark; --line: #8885; --curve: #0a5cc2; --own: #b3261e; }
    @media (prefers-color-scheme: dark) { :root { --curve: #8ab4ff; --own: #ff9d94; } }
    * { box-sizing: border-box; }
    body { margin: 0; font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
    main { max-width: 72rem; margin: 0 auto; padding: 1rem; }
    h1 { margin: 0 0 .5rem; } h2 { margin: 2rem 0 .5rem; } h3 { margin: 0; font-size: 1.05rem; }
    table { width: 100%; border-collapse: collapse; font-size: .9rem; }
    th, td { padding: .3rem .35rem; border-bottom: 1px solid var(--line); vertical-align: top; }
    th { text-align: left; font-weight: 600; } thead th { vertical-align: bottom; overflow-wrap: normal; }
    td { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
    thead th:not(:first-child) { text-align: right; }
    small { display: block; font-weight: 400; font-size: .8rem; opacity: .8; }
    .phones td:nth-child(2), .phones th:nth-child(2) { text-align: left; }
    .cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); }
    article { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; }
    article p { margin: .2rem 0; }
    svg { width: 100%; max-width: 15rem; height: auto; display: block; margin: .25rem auto; }
    .frame { fill: none; stroke: var(--line); } .chance { stroke: var(--line); stroke-dasharray: 4 4; }
    .curve { fill: none; stroke: var(--curve); stroke-width: 3; } .own { fill: var(--own); }
    .calibration .bar { width: 45%; } .bar span { display: block; height: .9rem; background: var(--curve); }
    @media print {
      :root { color-scheme: light; --curve: #0a5cc2; --own: #b3261e; }
      main { max-width: none; padding: 0; } body { font-size: 10pt; }
      article, tr { break-inside: avoid; } h2, h3 { break-after: avoid; } thead { display: table-header-group; }
      .cards { grid-template-columns: repeat(3, 1fr); }
      .bar span, .own { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
    }

    """
}
