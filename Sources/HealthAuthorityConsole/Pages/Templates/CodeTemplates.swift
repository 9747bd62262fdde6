/// The templates of the pages about codes.
enum CodeTemplates {
  static let issue = """
    <h1>{{t.issueTitle}}</h1>
    <p class="lead">{{t.issueLead}}</p>
    \(LayoutTemplate.notices)
    <form method="post" action="/codes" class="card">
    \(LayoutTemplate.token)
    <input type="hidden" name="uuid" value="{{uuid}}">
    <fieldset><legend>{{t.issueTest}}</legend>
    <label class="choice"><input type="radio" name="test" value="confirmed" checked> {{t.issueConfirmed}}</label>
    <label class="choice"><input type="radio" name="test" value="likely"> {{t.issueLikely}}</label>
    </fieldset>
    <label for="symptoms">{{t.issueSymptoms}}</label>
    <input id="symptoms" name="symptoms" type="date" min="{{firstDay}}" max="{{today}}">
    {{#sendsSMS}}
    <label for="phone">{{t.issuePhone}}</label>
    <input id="phone" name="phone" type="tel" autocomplete="off" aria-describedby="phone-help">
    <p class="help" id="phone-help">{{t.issuePhoneHelp}}</p>
    {{/sendsSMS}}
    <button id="issue" class="primary">{{t.issueButton}}</button>
    </form>
    """

  static let issued = """
    <h1>{{t.issuedTitle}}</h1>
    <p class="lead">{{t.issuedLead}}</p>
    <section class="card issued" aria-label="{{t.issuedTitle}}">
    <p class="big-code" id="issued-code">{{code}}</p>
    <p id="expires">{{expires}} UTC</p>
    {{{picture}}}
    </section>
    <p class="notice">{{t.shownOnce}}</p>
    {{#link}}
    <h2>{{t.issuedLink}}</h2>
    <p class="secret"><a id="app-link" href="{{link}}">{{link}}</a></p>
    {{/link}}
    <h2>{{t.issuedSMS}}</h2>
    <p class="secret" id="sms">{{sms}}</p>
    <p><a class="button" href="{{smsLink}}">{{t.issuedSMSOpen}}</a></p>
    <h2>{{t.issuedHandle}}</h2>
    <p><code id="uuid">{{uuid}}</code></p>
    <p class="help">{{t.issuedHandleHelp}}</p>
    <p><a class="button primary" id="next" href="/codes/new">{{t.issuedNext}}</a></p>
    """

  static let batch = """
    <h1>{{t.batchTitle}}</h1>
    <p class="lead">{{t.batchLead}}</p>
    <pre class="example">A-17,confirmed,{{today}}\nA-18,likely,</pre>
    <p>{{t.batchReference}}</p>
    \(LayoutTemplate.notices)
    <form method="post" action="/codes/batch" enctype="multipart/form-data" class="card">
    \(LayoutTemplate.token)
    <input type="hidden" name="batch" value="{{batch}}">
    <label for="file">{{t.batchFile}}</label>
    <input id="file" name="file" type="file" accept=".csv,text/csv,text/plain">
    <label for="lines">{{t.batchText}}</label>
    <textarea id="lines" name="lines" rows="8" spellcheck="false">{{lines}}</textarea>
    <div class="actions">
    <button id="batch-show" name="as" value="page" class="primary">{{t.batchShow}}</button>
    <button id="batch-download" name="as" value="csv">{{t.batchDownload}}</button>
    </div>
    </form>
    """

  static let batchResult = """
    <h1>{{t.batchResult}}</h1>
    <p class="lead" role="status" id="summary">{{summary}}</p>
    <p class="notice">{{t.shownOnce}}</p>
    \(LayoutTemplate.wide("codes-caption"))
    <table id="codes"><caption id="codes-caption">{{t.batchResult}}. {{t.utc}}</caption>
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

  static let status = """
    <h1>{{t.statusTitle}}</h1>
    <p class="lead">{{t.statusLead}}</p>
    \(LayoutTemplate.notices)
    <form method="post" action="/codes/status" class="card">
    \(LayoutTemplate.token)
    <label for="uuid">{{t.issuedHandle}}</label>
    <input id="uuid" name="uuid" type="text" required autocomplete="off" spellcheck="false" class="code"\
     value="{{uuid}}">
    <button id="look-up" class="primary">{{t.statusButton}}</button>
    </form>
    {{#state}}
    <section class="card" aria-label="{{t.status}}">
    <p role="status" id="state">{{state}}</p>
    {{#canExpire}}
    <form method="post" action="/codes/expire">\(LayoutTemplate.token)
    <input type="hidden" name="uuid" value="{{uuid}}">
    <button id="expire" class="danger">{{t.statusExpire}}</button></form>
    {{/canExpire}}
    </section>
    {{/state}}
    """
}
