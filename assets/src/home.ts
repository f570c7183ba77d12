import './plain'
import './elements/cluster'
import './elements/class-desk'
import './elements/connection'
import './elements/hand'
import './elements/notices'
import './elements/search'
import { session } from './page-session'

if (document.querySelector('apilab-connection')) {
  document.body.append(document.createElement('apilab-notices'))
  document.querySelector('.bar')?.after(document.createElement('apilab-class-desk'))
  session.connect()
}
