// SPDX-License-Identifier: Apache-2.0
/// The templates of the list of codes.
///
/// Browsers leave out a line break at the start of a text field: each list has one more, so that its lines keep their
/// numbers.
enum BatchTemplates {
  static let batch = """
    <h1>{{t.batchTitle}}</h1>
    <p class="lead">{{lead}}</p>
    <pre class="example">{{example}}</pre>
    <p>{{t.batchReference}}</p>
    \(LayoutTemplate.notices)
    {{#hasFaults}}<ul id="faults">{{#faults}}<li>{{text}}</li>{{/faults}}</ul>{{/hasFaults}}
    <form method="post" action="/codes/batch" enctype="multipart/form-data" class="card">
    \(LayoutTemplate.token)
    <input type="hidden" name="batch" value="{{batch}}">
    <label for="file">{{t.batchFile}}</label>
    <input id="file" name="file" type="file" class="drop" accept=".csv,.txt,text/csv,text/plain"\
     aria-describedby="file-help">
    <p class="help" id="file-help">{{t.batchFileHelp}}</p>
    <label for="lines">{{t.batchText}}</label>
    <textarea id="lines" name="lines" rows="8" spellcheck="false">
    {{lines}}</textarea>
    {{#sendsSMS}}
    <details><summary>{{t.batchContinue}}</summary>
    <label for="number">{{t.smsListNumber}}</label>
    <input id="number" name="number" type="text" class="code" autocomplete="off" spellcheck="false"\
     aria-describedby="number-help">
    <p class="help" id="number-help">{{t.batchContinueHelp}}</p>
    </details>
    {{/sendsSMS}}
    <div class="actions">
    <button id="batch-show" name="as" value="page" class="primary">{{t.batchShow}}</button>
    <button id="batch-download" name="as" value="csv">{{t.batchDownload}}</button>
    </div>
    </form>
    """

  /// The page of a form whose session has ended. It has no token: the form comes back filled in after the sign-in.
  static let kept = """
    <h1>{{title}}</h1>
    <p class="lead" id="message">{{t.batchKeptText}}</p>
    <p id="kept">{{count}}</p>
    <p><a class="button" id="sign-in-again" href="/sign-in" target="_blank" rel="noopener">{{t.batchKeptSignIn}}</a></p>
    <form method="post" action="/codes/batch">
    <input type="hidden" name="batch" value="{{batch}}">
    <textarea name="lines" hidden>
    {{lines}}</textarea>
    <button id="continue" class="primary">{{t.batchKeptContinue}}</button>
    </form>
    """

  static let batchResult = """
    <h1>{{t.batchResult}}</h1>
    <p class="lead" role="status" id="summary">{{summary}}</p>
    {{#repeated}}<p id="repeated">{{repeated}}</p>{{/repeated}}
    <p class="notice">{{t.shownOnce}}</p>
    \(LayoutTemplate.wide("codes-caption"))
    <table id="codes"><caption id="codes-caption">{{t.batchResult}}. {{t.zone}}</caption>
    <thead><tr><th scope="col">{{t.batchColumnReference}}</th><th scope="col">{{t.batchColumnCode}}</th>
    <th scope="col">{{t.batchColumnExpires}}</th><th scope="col">{{t.batchColumnNumber}}</th>
    <th scope="col">{{t.batchColumnFault}}</th></tr></thead>
    <tbody>
    {{#rows}}
    <tr><th scope="row">{{reference}}</th><td class="code">{{code}}</td><td class="time">{{expires}}</td>
    <td><code>{{uuid}}</code></td><td>{{fault}}</td></tr>
    {{/rows}}
    </tbody></table></div>
    <p><a class="button" href="/codes/batch">{{t.batchTitle}}</a></p>
    """

  static let smsList = """
    <h1>{{t.smsListTitle}}</h1>
    <p class="lead" role="status" id="state">{{state}}</p>
    <p><progress id="progress" max="{{total}}" value="{{ended}}" aria-label="{{t.smsListTitle}}"></progress></p>
    <p id="summary">{{summary}}</p>
    {{#isRunning}}
    {{#isWatched}}<p><a id="no-updates" href="/codes/batch/{{number}}?updates=off">{{t.smsListNoUpdates}}</a></p>\
    {{/isWatched}}
    {{^isWatched}}<p><a id="updates" href="/codes/batch/{{number}}">{{t.smsListUpdates}}</a></p>{{/isWatched}}
    {{/isRunning}}
    {{#resume}}
    <form method="post" action="/codes/batch/{{number}}/resume">\(LayoutTemplate.token)
    <button id="resume" class="primary">{{resume}}</button></form>
    {{/resume}}
    <p>{{t.smsListNumber}}: <code id="number">{{number}}</code></p>
    <p class="help">{{t.smsListHelp}}</p>
    \(LayoutTemplate.wide("list-caption"))
    <table id="list"><caption id="list-caption">{{t.smsListTitle}}</caption>
    <thead><tr><th scope="col">{{t.batchColumnReference}}</th><th scope="col">{{t.status}}</th>
    <th scope="col">{{t.batchColumnNumber}}</th></tr></thead>
    <tbody>
    {{#rows}}
    <tr><th scope="row">{{reference}}</th><td>{{outcome}}</td><td><code>{{uuid}}</code></td></tr>
    {{/rows}}
    </tbody></table></div>
    <p><a class="button" href="/codes/batch">{{t.batchTitle}}</a></p>
    """
}
