import './plain'
import './elements/cluster'
import './elements/connection'
import './elements/notices'
import './elements/search'
import { session } from './page-session'

if (document.querySelector('apilab-connection')) {
  document.body.append(document.createElement('apilab-notices'))
  session.connect()
}
