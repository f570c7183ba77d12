import './lesson'
import './elements/filter'
