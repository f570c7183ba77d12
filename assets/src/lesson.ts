import './home'
import './elements/check'
import './elements/divider'
import './elements/exercise'
import './elements/predict'
import './elements/run'
import './elements/transcript'
import './elements/workbench'
import { closeOnLeave } from './contents'
import { explainTerms } from './terms'

closeOnLeave()
explainTerms()
